package org.nemorelay.config.internal;

import java.util.List;
import java.util.Map;
import org.nemorelay.config.PluginPlan.Position;

/** A TOML value and where it stands. Immutable. */
sealed interface TomlValue {
    Position position();

    /** In file order. */
    record Table(Map<String, TomlValue> entries, Position position) implements TomlValue {}

    record Array(List<TomlValue> items, Position position) implements TomlValue {}

    /** @param value a {@code String}, {@code Long}, {@code Double}, {@code Boolean}, or one of the date and time types */
    record Scalar(Object value, Position position) implements TomlValue {}

    /** What people call this kind of value. */
    default String kind() {
        return switch (this) {
            case Table _ -> "a table";
            case Array _ -> "an array";
            case Scalar(Object value, Position _) ->
                switch (value) {
                    case String _ -> "a string";
                    case Long _ -> "an integer";
                    case Double _ -> "a floating-point number";
                    case Boolean _ -> "a boolean";
                    default -> "a date or time";
                };
        };
    }
}
