package org.nemorelay.plugin.piiredaction.internal;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.plugin.api.PluginConfig;

/** One {@code builtin} section: a treatment, and where it applies. Immutable. */
final class Profile {
    /** Stands for a value that is taken out of its object. */
    private static final Object REMOVED = new Object();

    private final Treatment treatment;
    private final List<List<String>> paths;

    Profile(PluginConfig config) {
        config.only(
                "action",
                "target_paths",
                "pattern",
                "detector",
                "replacement",
                "mask_char",
                "unmasked_prefix",
                "unmasked_suffix",
                "preset",
                "custom_mark_payload_policy");
        for (String key : List.of("preset", "custom_mark_payload_policy")) {
            if (config.has(key)) {
                throw config.failure(key, "not supported by this version, remove it");
            }
        }
        if (!config.has("action")) {
            throw config.failure("action", "missing; write remove, redact, regex_replace, hash or mask");
        }
        treatment = new Treatment(config);
        List<List<String>> places = new ArrayList<>();
        for (String pointer : config.strings("target_paths")) {
            if (!pointer.isEmpty() && !pointer.startsWith("/")) {
                throw config.failure("target_paths", "\"" + pointer + "\" is no JSON pointer, it must begin with /");
            }
            places.add(
                    pointer.isEmpty()
                            ? List.of()
                            : java.util.Arrays.stream(pointer.substring(1).split("/", -1))
                                    .map(token -> token.replace("~1", "/").replace("~0", "~"))
                                    .toList());
        }
        paths = List.copyOf(places);
    }

    /** Whether it applies to certain places only. */
    boolean targeted() {
        return !paths.isEmpty();
    }

    /** The value to record, null for none. */
    Object everywhere(Object value) {
        return everywhere("", value);
    }

    /** The value of a key to record, null for none. */
    Object everywhere(String key, Object value) {
        Object treated = leaves(key, value);
        return treated == REMOVED ? null : treated;
    }

    /** The value to record with its target places treated, those that are there. */
    Object atTargets(Object value) {
        Object treated = value;
        for (List<String> path : paths) {
            treated = at("", treated, path);
            if (treated == REMOVED) {
                return null;
            }
        }
        return treated;
    }

    private Object at(String key, Object value, List<String> path) {
        if (path.isEmpty()) {
            return treatment.removes() ? REMOVED : leaves(key, value);
        }
        String token = path.getFirst();
        List<String> rest = path.subList(1, path.size());
        return switch (value) {
            case Map<?, ?> map
            when map.containsKey(token) -> {
                Map<Object, Object> changed = new LinkedHashMap<>(map);
                put(changed, token, at(token, map.get(token), rest));
                yield changed;
            }
            case List<?> list -> {
                List<Object> changed = new ArrayList<>(list);
                for (int i = 0; i < changed.size(); i++) {
                    if (Integer.toString(i).equals(token)) {
                        Object item = at("", changed.get(i), rest);
                        changed.set(i, item == REMOVED ? null : item);
                    }
                }
                yield changed;
            }
            case null, default -> value;
        };
    }

    private Object leaves(String key, Object value) {
        return switch (value) {
            case String text -> orRemoved(treatment.of(key, text));
            case Long number -> number(number);
            case BigInteger number -> number(number);
            case Map<?, ?> map -> {
                Map<Object, Object> changed = new LinkedHashMap<>();
                map.forEach((name, item) -> put(changed, name, leaves(String.valueOf(name), item)));
                yield changed;
            }
            case List<?> list -> {
                List<Object> changed = new ArrayList<>(list.size());
                for (Object item : list) {
                    Object treated = leaves(key, item);
                    changed.add(treated == REMOVED ? null : treated);
                }
                yield changed;
            }
            case null, default -> value;
        };
    }

    private Object number(Number number) {
        String text = number.toString();
        return treatment.finds(text) ? orRemoved(treatment.of("", text)) : number;
    }

    private static Object orRemoved(Optional<String> treated) {
        return treated.isPresent() ? treated.get() : REMOVED;
    }

    private static void put(Map<Object, Object> map, Object key, Object value) {
        if (value == REMOVED) {
            map.remove(key);
        } else {
            map.put(key, value);
        }
    }
}
