package org.nemorelay.plugin.observability.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.PluginConfig;

/** How a stream sink names fields ({@code field_name_policy}, plugins.md 2.4). */
enum FieldNames {
    PRESERVE,
    REPLACE_DOTS;

    static FieldNames of(PluginConfig sink) {
        return switch (sink.string("field_name_policy", "preserve")) {
            case "preserve" -> PRESERVE;
            case "replace_dots" -> REPLACE_DOTS;
            case String other ->
                throw sink.failure("field_name_policy", "\"" + other + "\" is neither preserve nor replace_dots");
        };
    }

    String line(Event event) {
        return this == PRESERVE ? event.toJsonLine() : Json.write(undotted(event.values()));
    }

    /** Keys with dots are renamed first; a clash takes {@code _2}, {@code _3} and so on. */
    private static Object undotted(Object value) {
        return switch (value) {
            case Map<?, ?> map -> {
                Map<String, Object> renamed = new LinkedHashMap<>();
                for (boolean dotted : new boolean[] {true, false}) {
                    map.forEach((key, item) -> {
                        String name = (String) key;
                        if (name.contains(".") == dotted) {
                            String base = name.replace('.', '_');
                            String free = base;
                            for (int i = 2; renamed.containsKey(free); i++) {
                                free = base + "_" + i;
                            }
                            renamed.put(free, undotted(item));
                        }
                    });
                }
                yield renamed;
            }
            case List<?> list -> {
                List<Object> renamed = new ArrayList<>();
                list.forEach(item -> renamed.add(undotted(item)));
                yield renamed;
            }
            case null, default -> value;
        };
    }
}
