package org.nemorelay.pluginhost.internal;

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.protocol.Secrets;

/** The plan as session events repeat it. Events leave the machine, so what may be a secret does not go into them. */
final class RecordedPlan {
    private static final String REDACTED = "[REDACTED]";

    private RecordedPlan() {}

    static Map<String, Object> of(PluginPlan plan) {
        List<Object> components = new ArrayList<>();
        for (PluginPlan.Component component : plan.components()) {
            Map<String, Object> config = new TreeMap<>();
            values(plan, component.kind()).forEach((key, value) -> put(config, key, value));
            Map<String, Object> recorded = new TreeMap<>();
            recorded.put("kind", component.kind());
            recorded.put("config", arrays(config));
            component.required().ifPresent(required -> recorded.put("required", required));
            components.add(recorded);
        }
        return Map.of("components", List.copyOf(components), "version", 1L);
    }

    /** A component's configuration as JSON values by dotted key, without what looks like a secret. */
    static Map<String, Object> values(PluginPlan plan, String kind) {
        Map<String, Object> values = new TreeMap<>();
        plan.configuration(kind).forEach((key, value) -> values.put(key, secret(key, value) ? REDACTED : json(value)));
        return values;
    }

    /** Headers are mostly there for a credential. */
    private static boolean secret(String key, Object value) {
        boolean header = key.toLowerCase(Locale.ROOT).contains("headers")
                && !(value instanceof Number || value instanceof Boolean);
        return header || Secrets.isSecret(key, value);
    }

    @SuppressWarnings("unchecked")
    private static void put(Map<String, Object> table, String key, Object value) {
        int dot = key.indexOf('.');
        if (dot < 0) {
            table.put(key, value);
        } else {
            Object inner = table.computeIfAbsent(key.substring(0, dot), absent -> new TreeMap<String, Object>());
            put((Map<String, Object>) inner, key.substring(dot + 1), value);
        }
    }

    /** Turns tables whose keys count from 0 back into arrays. */
    private static Object arrays(Object value) {
        if (!(value instanceof Map<?, ?> map)) {
            return value;
        }
        Map<String, Object> table = new TreeMap<>();
        map.forEach((key, inner) -> table.put((String) key, arrays(inner)));
        List<Object> items = new ArrayList<>();
        while (table.containsKey(Integer.toString(items.size()))) {
            items.add(table.get(Integer.toString(items.size())));
        }
        return !items.isEmpty() && items.size() == table.size() ? items : table;
    }

    private static Object json(Object value) {
        if (value instanceof Double number) {
            return BigDecimal.valueOf(number);
        }
        if (!value.getClass().isArray()) {
            return value;
        }
        List<Object> items = new ArrayList<>();
        for (int i = 0; i < Array.getLength(value); i++) {
            items.add(json(Array.get(value, i)));
        }
        return items;
    }
}
