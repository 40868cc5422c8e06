package org.nemorelay.plugin.piiredaction.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What spells a text once more, token by token, where no detector finds anything: probabilities of tokens, and their numbers.
 * Stateless.
 */
final class Tokens {
    private static final Set<String> NAMES = Set.of("logprobs", "prompt_logprobs", "token_ids", "prompt_token_ids");
    private static final String HIDDEN = "[REDACTED]";

    private Tokens() {}

    /** The value with a mark in their place, at any depth. */
    static Object hidden(Object value) {
        return switch (value) {
            case Map<?, ?> map -> {
                Map<Object, Object> changed = new LinkedHashMap<>();
                map.forEach((name, member) -> changed.put(name, spells(name, member) ? HIDDEN : hidden(member)));
                yield changed;
            }
            case List<?> list -> {
                List<Object> changed = new ArrayList<>(list.size());
                list.forEach(item -> changed.add(hidden(item)));
                yield changed;
            }
            case null, default -> value;
        };
    }

    /** A request's {@code logprobs: true} says nothing. */
    private static boolean spells(Object name, Object member) {
        return NAMES.contains(name)
                && (member instanceof Map<?, ?> map && !map.isEmpty()
                        || member instanceof List<?> list && !list.isEmpty());
    }
}
