package org.nemorelay.plugin.toolpolicy.internal;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ModelRequest;

/**
 * Calls in places of an answer where no reader of the API looks for one, but a less strict reader may: they are not taken out
 * but withhold the answer, unless the rules let them pass.
 */
record Strays(Rules rules, ModelRequest request) {
    /** What a call brings along is for its tool to read. */
    private static final Set<String> ARGUMENTS = Set.of("arguments", "input", "action", "operation", "code");

    private static final Set<String> CALLS = Set.of("tool_calls", "function_call");
    private static final Set<String> FUNCTIONS = Set.of("function", "custom");

    /**
     * Looks through what of an answer has not been judged.
     *
     * @throws IllegalStateException where it holds what the rules do not let pass
     */
    void refuse(JsonText json) {
        refuse(json.value());
    }

    private void refuse(Object value) {
        switch (value) {
            case List<?> list -> list.forEach(this::refuse);
            case Map<?, ?> map -> {
                Map<String, Object> object = ModelCalls.object(map);
                boolean call = ModelCalls.isCall(object);
                if (call) {
                    judge(ModelCalls.item(request, List.of(object), ""));
                }
                object.forEach((key, member) -> {
                    String word = key.strip().toLowerCase(Locale.ROOT);
                    if (CALLS.contains(word) && !empty(member)) {
                        throw new IllegalStateException("the answer has \"" + word + "\" where none belongs");
                    }
                    if (FUNCTIONS.contains(word)
                            && (spelt(object, "arguments") || spelt(object, "input") || spelt(member, "arguments"))) {
                        throw new IllegalStateException("the answer calls a function where no call belongs");
                    }
                    if (!call || !ARGUMENTS.contains(key)) {
                        refuse(member);
                    }
                });
                if (!call && spelt(object, "name") && (spelt(object, "arguments") || spelt(object, "input"))) {
                    throw new IllegalStateException("the answer has a call that cannot be read");
                }
            }
            case null, default -> {}
        }
    }

    private void judge(Call call) {
        Optional<String> reason = rules.taken(call);
        if (reason.isPresent()) {
            throw new IllegalStateException("the answer has a denied call where none belongs");
        }
    }

    /** Whether an object has the key in any case. */
    private static boolean spelt(Object object, String key) {
        return ModelCalls.object(object).keySet().stream()
                .anyMatch(own -> own.strip().equalsIgnoreCase(key));
    }

    private static boolean empty(Object value) {
        return value == null || value.equals("") || value.equals(List.of()) || value.equals(Map.of());
    }
}
