package org.nemorelay.config.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.nemorelay.config.PluginPlan.Position;
import org.nemorelay.config.Spelling;
import org.nemorelay.protocol.RelayException;

/** The keys of one table as they are asked for; what was not asked for is refused at the end. Failures name file, line and key. */
final class Keys {
    private final String name;
    private final Map<String, TomlValue> entries;
    private final Optional<Position> position;
    private final TreeSet<String> known = new TreeSet<>();

    /** @param name as it stands in the file, such as {@code [frontend]} */
    Keys(String name, Optional<TomlValue.Table> table) {
        this.name = name;
        this.entries = table.map(TomlValue.Table::entries).orElse(Map.of());
        this.position = table.map(TomlValue.Table::position);
    }

    private Optional<TomlValue> value(String key) {
        known.add(key);
        return Optional.ofNullable(entries.get(key));
    }

    /** A failure at a key, or at the table where the key is not there. */
    RelayException at(String key, String problem) {
        String text = name + " " + key + " " + problem;
        return Optional.ofNullable(entries.get(key))
                .map(TomlValue::position)
                .or(() -> position)
                .map(place -> Failures.at(place, text))
                .orElseGet(() -> Failures.of(text));
    }

    boolean has(String key) {
        return entries.containsKey(key);
    }

    private <T> Optional<T> scalar(String key, SettingType type, Class<T> form) {
        Optional<TomlValue> value = value(key);
        if (value.isEmpty()) {
            return Optional.empty();
        }
        Optional<Object> accepted = value.get() instanceof TomlValue.Scalar(Object scalar, Position _)
                ? type.from(scalar)
                : Optional.empty();
        return Optional.of(form.cast(accepted.orElseThrow(() -> at(key, type.wrong(value.get())))));
    }

    Optional<String> text(String key) {
        return scalar(key, SettingType.TEXT, String.class);
    }

    String text(String key, String otherwise) {
        return text(key).orElse(otherwise);
    }

    /** Text that may be empty, where emptiness means something. */
    String textOrEmpty(String key, String otherwise) {
        Optional<TomlValue> value = value(key);
        if (value.isPresent()
                && value.get() instanceof TomlValue.Scalar(Object scalar, Position _)
                && scalar instanceof String text) {
            return text;
        }
        return value.isEmpty() ? otherwise : text(key, otherwise);
    }

    String url(String key, String otherwise) {
        return scalar(key, SettingType.BASE_URL, String.class).orElse(otherwise);
    }

    boolean flag(String key, boolean otherwise) {
        return scalar(key, SettingType.FLAG, Boolean.class).orElse(otherwise);
    }

    long integer(String key, long min, long max, long otherwise) {
        Optional<TomlValue> value = value(key);
        if (value.isEmpty()) {
            return otherwise;
        }
        if (value.get() instanceof TomlValue.Scalar(Object scalar, Position _)
                && scalar instanceof Long number
                && number >= min
                && number <= max) {
            return number;
        }
        throw at(
                key,
                "must be an integer from " + min + " through " + max + ", it is "
                        + (value.get() instanceof TomlValue.Scalar(Object scalar, Position _) && scalar instanceof Long
                                ? scalar
                                : value.get().kind()));
    }

    /** An array of non-empty strings; empty when it is not there. */
    List<String> texts(String key) {
        Optional<TomlValue> value = value(key);
        if (value.isEmpty()) {
            return List.of();
        }
        List<String> texts = new ArrayList<>();
        if (value.get() instanceof TomlValue.Array(List<TomlValue> items, Position _)) {
            for (TomlValue item : items) {
                if (item instanceof TomlValue.Scalar(Object scalar, Position _)
                        && scalar instanceof String text
                        && !text.isBlank()) {
                    texts.add(text);
                }
            }
            if (texts.size() == items.size() && !texts.isEmpty()) {
                return List.copyOf(texts);
            }
        }
        throw at(
                key,
                "must be an array of non-empty strings"
                        + (value.get() instanceof TomlValue.Array
                                ? ""
                                : ", it is " + value.get().kind()));
    }

    /** Tables by a name of the administrator's. */
    Map<String, Keys> named(String key) {
        Optional<TomlValue> value = value(key);
        Map<String, Keys> tables = new LinkedHashMap<>();
        if (value.isPresent()) {
            if (!(value.get() instanceof TomlValue.Table table)) {
                throw at(key, "must be a table, it is " + value.get().kind());
            }
            String prefix = name.substring(1, name.length() - 1) + "." + key + ".";
            for (Map.Entry<String, TomlValue> entry : table.entries().entrySet()) {
                String inner = "[" + prefix + (entry.getKey().isEmpty() ? "\"\"" : entry.getKey()) + "]";
                if (!(entry.getValue() instanceof TomlValue.Table values)) {
                    throw Failures.at(
                            entry.getValue().position(),
                            inner + " must be a table, it is "
                                    + entry.getValue().kind());
                }
                tables.put(entry.getKey(), new Keys(inner, Optional.of(values)));
            }
        }
        return tables;
    }

    /** An array of tables. */
    List<Keys> list(String key) {
        Optional<TomlValue> value = value(key);
        List<Keys> tables = new ArrayList<>();
        if (value.isPresent()) {
            String inner = "[[" + name.substring(1, name.length() - 1) + "." + key + "]]";
            if (!(value.get() instanceof TomlValue.Array(List<TomlValue> items, Position _))) {
                throw at(key, "must be an array of tables, it is " + value.get().kind());
            }
            for (TomlValue item : items) {
                if (!(item instanceof TomlValue.Table table)) {
                    throw Failures.at(item.position(), inner + " must hold tables, not " + item.kind());
                }
                tables.add(new Keys(inner, Optional.of(table)));
            }
        }
        return tables;
    }

    String required(String key) {
        return text(key).orElseThrow(() -> at(key, "is missing"));
    }

    /** Refuses every key that nobody asked for. */
    void nothingElse() {
        for (String key : entries.keySet()) {
            if (!known.contains(key)) {
                throw Failures.at(
                        entries.get(key).position(),
                        name + " \"" + key + "\" is not a known key" + Spelling.instead(key, known));
            }
        }
    }
}
