package org.nemorelay.plugin.api;

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Typed access to a component's {@code config} table as Configuration Admin delivers it: flattened with dots, arrays of
 * tables with the index as a key. Hand it the map that the component's activation method takes. Every failure is a
 * {@link PluginConfigException} with the key's whole path. Immutable.
 */
public final class PluginConfig {
    private static final Set<String> FOREIGN =
            Set.of("service.pid", "service.factoryPid", "service.bundleLocation", "component.name", "component.id");

    private final Map<String, Object> values;
    private final String prefix;

    private PluginConfig(Map<String, Object> values, String prefix) {
        this.values = values;
        this.prefix = prefix;
    }

    /** The configuration in component properties; what the framework and the relay add to them is left out. */
    public static PluginConfig of(Map<String, ?> componentProperties) {
        Map<String, Object> values = new TreeMap<>();
        componentProperties.forEach((key, value) -> {
            if (!FOREIGN.contains(key)
                    && !key.startsWith("nemorelay.")
                    && !key.startsWith("osgi.ds.")
                    && !key.startsWith(".")) {
                values.put(key, value);
            }
        });
        return new PluginConfig(values, "");
    }

    /** The keys of this table, sorted; those of tables below it once. */
    public Set<String> keys() {
        Set<String> keys = new TreeSet<>();
        for (String key : values.keySet()) {
            if (key.startsWith(prefix)) {
                int dot = key.indexOf('.', prefix.length());
                keys.add(key.substring(prefix.length(), dot < 0 ? key.length() : dot));
            }
        }
        return keys;
    }

    /** Refuses keys other than the known ones. */
    public PluginConfig only(String... known) {
        for (String key : keys()) {
            if (!List.of(known).contains(key)) {
                throw failure(key, "unknown key; known here: " + String.join(", ", known));
            }
        }
        return this;
    }

    public boolean has(String key) {
        return keys().contains(key);
    }

    public String string(String key) {
        return optionalString(key).orElseThrow(() -> failure(key, "missing; a string is needed"));
    }

    public String string(String key, String otherwise) {
        return optionalString(key).orElse(otherwise);
    }

    public Optional<String> optionalString(String key) {
        return get(key, String.class, "a string");
    }

    public boolean bool(String key, boolean otherwise) {
        return get(key, Boolean.class, "true or false").orElse(otherwise);
    }

    /** An integer from {@code min} to {@code max}, both included. */
    public long integer(String key, long otherwise, long min, long max) {
        String wanted = "an integer from " + min + " to " + max;
        long value = switch (get(key, Number.class, wanted).orElse(otherwise)) {
            case Long number -> number;
            case Integer number -> number;
            case Number number -> throw failure(key, "must be " + wanted + ", not " + number);
        };
        if (value < min || value > max) {
            throw failure(key, "must be " + wanted + ", not " + value);
        }
        return value;
    }

    /** A number, whole or not. */
    public Optional<BigDecimal> optionalNumber(String key) {
        return get(key, Number.class, "a number").map(number -> {
            try {
                return new BigDecimal(number.toString());
            } catch (NumberFormatException e) {
                throw failure(key, "must be a finite number");
            }
        });
    }

    /** An array of strings; empty when the key is missing. */
    public List<String> strings(String key) {
        List<String> strings = new ArrayList<>();
        Optional<Object> value = get(key, Object.class, "an array of strings");
        if (value.isPresent()) {
            for (Object item : items(key, value.get(), "an array of strings")) {
                if (!(item instanceof String text)) {
                    throw failure(key, "must be an array of strings");
                }
                strings.add(text);
            }
        }
        return List.copyOf(strings);
    }

    /** The table under a key; one without keys when it is missing. */
    public PluginConfig table(String key) {
        if (values.containsKey(prefix + key)) {
            throw failure(key, "must be a table");
        }
        return new PluginConfig(values, prefix + key + ".");
    }

    /** The tables of an array of tables; none when the key is missing. */
    public List<PluginConfig> tables(String key) {
        List<PluginConfig> tables = new ArrayList<>();
        Object value = values.get(prefix + key);
        if (value != null && !items(key, value, "an array of tables").isEmpty()) {
            throw failure(key, "must be an array of tables");
        }
        PluginConfig array = new PluginConfig(values, prefix + key + ".");
        Set<String> indexes = array.keys();
        for (int i = 0; i < indexes.size(); i++) {
            if (!indexes.contains(Integer.toString(i))) {
                throw failure(key, "must be an array of tables");
            }
            tables.add(array.table(Integer.toString(i)));
        }
        return List.copyOf(tables);
    }

    /** A failure about a key of this table. */
    public PluginConfigException failure(String key, String message) {
        return new PluginConfigException(prefix + key, message);
    }

    private <T> Optional<T> get(String key, Class<T> type, String wanted) {
        Object value = values.get(prefix + key);
        if (value == null) {
            if (has(key)) {
                throw failure(key, "must be " + wanted);
            }
            return Optional.empty();
        }
        if (!type.isInstance(value)) {
            throw failure(key, "must be " + wanted);
        }
        return Optional.of(type.cast(value));
    }

    private List<?> items(String key, Object value, String wanted) {
        if (value instanceof Collection<?> collection) {
            return new ArrayList<>(collection);
        }
        if (!value.getClass().isArray()) {
            throw failure(key, "must be " + wanted);
        }
        List<Object> items = new ArrayList<>();
        for (int i = 0; i < Array.getLength(value); i++) {
            items.add(Array.get(value, i));
        }
        return items;
    }
}
