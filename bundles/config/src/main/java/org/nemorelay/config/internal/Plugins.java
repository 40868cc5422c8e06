package org.nemorelay.config.internal;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.config.Spelling;
import org.nemorelay.config.internal.TomlValue.Scalar;
import org.nemorelay.protocol.RelayException;

/** plugins.toml of one layer (plugins 2.1, 2.2): the enabled components and their configurations. Immutable. */
final class Plugins implements PluginPlan {
    static final String FILE = "plugins.toml";

    private static final Set<String> KEYS = new TreeSet<>(List.of("components", "plugins", "policy", "version"));
    private static final Set<String> COMPONENT_KEYS =
            new TreeSet<>(List.of("config", "enabled", "kind", "required", "sha256"));
    private static final Pattern SHA256 = Pattern.compile("[0-9a-fA-F]{64}");
    private static final Set<String> POLICY_KEYS =
            new TreeSet<>(List.of("unknown_component", "unknown_field", "unsupported_value"));
    private static final Set<String> PLUGINS_KEYS = Set.of("dynamic");

    private final List<Component> components;
    private final Map<String, Map<String, Object>> configurations;
    private final Map<String, Map<String, Position>> positions;
    private final Map<String, Position> pins;
    private final List<String> problems;
    private final List<String> notes;

    private Plugins(Reading reading) {
        this.components = List.copyOf(reading.components);
        this.configurations = reading.configurations;
        this.positions = reading.positions;
        this.pins = reading.pins;
        this.problems = List.copyOf(reading.problems);
        this.notes = List.copyOf(reading.notes);
    }

    /** What there is without the file: no component. */
    static Plugins without() {
        return new Plugins(new Reading());
    }

    /** The same with what is wrong elsewhere before what is wrong here. */
    Plugins with(Collection<String> otherProblems, Collection<String> otherNotes) {
        Reading reading = new Reading();
        reading.components.addAll(components);
        reading.configurations.putAll(configurations);
        reading.positions.putAll(positions);
        reading.pins.putAll(pins);
        reading.problems.addAll(otherProblems);
        reading.problems.addAll(problems);
        reading.notes.addAll(otherNotes);
        reading.notes.addAll(notes);
        return new Plugins(reading);
    }

    /** Refuses a plan with mistakes. */
    Plugins sound() {
        if (!problems.isEmpty()) {
            throw Failures.of(problemLine());
        }
        return this;
    }

    String problemLine() {
        return String.join("; ", problems);
    }

    /** Whether a file says what there is to be, if only that it is nothing. */
    static boolean says(Optional<TomlValue.Table> file) {
        return file.map(table -> table.entries().containsKey("components")).orElse(false);
    }

    static Plugins read(Optional<TomlValue.Table> file) {
        return file.map(Plugins::read).orElseGet(Plugins::without);
    }

    /** The plan that the file holds; what is wrong with it is among its {@link #problems}, not thrown. */
    static Plugins read(TomlValue.Table file) {
        Reading reading = new Reading();
        reading.check(() -> {
            TomlValue version = file.entries().get("version");
            if (version != null && !(version instanceof Scalar(Object number, Position _) && number.equals(1L))) {
                throw Failures.at(version.position(), "version must be the integer 1");
            }
        });
        reading.check(() -> reading.unknownField = policy(file));
        file.entries().forEach((key, value) -> reading.check(() -> reading.top(key, value)));
        reading.members(file, "policy", POLICY_KEYS);
        reading.members(file, "plugins", PLUGINS_KEYS);
        reading.check(() -> items(file).forEach(item -> reading.check(() -> reading.component(item))));
        stockPlugins(file, reading.notes);
        return new Plugins(reading);
    }

    /** The file as far as it has been read. */
    private static final class Reading {
        final List<Component> components = new ArrayList<>();
        final Map<String, Map<String, Object>> configurations = new HashMap<>();
        final Map<String, Map<String, Position>> positions = new HashMap<>();
        final Map<String, Position> pins = new HashMap<>();
        final List<String> problems = new ArrayList<>();
        final List<String> notes = new ArrayList<>();
        private final Map<String, Position> seen = new HashMap<>();
        private String unknownField = "warn";

        /** One mistake leaves the rest of the file to be looked at. */
        void check(Runnable part) {
            try {
                part.run();
            } catch (RelayException e) {
                problems.add(e.getMessage());
            }
        }

        /** Whoever writes a table of kinds, or nearly a known key, means something that would not be in force. */
        void top(String key, TomlValue value) {
            if (KEYS.contains(key)) {
                return;
            }
            String text = "\"" + key + "\" is not a known key";
            if (unknownField.equals("error") || Spelling.meant(key, KEYS).isPresent()) {
                throw Failures.at(value.position(), text + Spelling.instead(key, KEYS));
            }
            if (value instanceof TomlValue.Array(List<TomlValue> items, Position _)
                    && items.stream()
                            .anyMatch(item -> item instanceof TomlValue.Table table
                                    && table.entries().containsKey("kind"))) {
                throw Failures.at(value.position(), text + "; did you mean [[components]]?");
            }
            notes.add(value.position() + ": ignored: " + text + Spelling.instead(key, KEYS));
        }

        void component(TomlValue item) {
            if (!(item instanceof TomlValue.Table component)) {
                throw Failures.at(item.position(), "[[components]] must be tables, this is " + item.kind());
            }
            String kind = kind(component);
            Position earlier = seen.putIfAbsent(kind, component.position());
            if (earlier != null) {
                throw Failures.at(
                        component.position(),
                        "a second component of kind \"" + kind + "\", the first is at line " + earlier.line()
                                + ": a kind may stand once");
            }
            component.entries().forEach((key, value) -> check(() -> unknown(component, kind, key, value)));
            boolean enabled = flag(component, "enabled").orElse(true);
            Optional<Boolean> required = flag(component, "required");
            Flattened config = new Flattened(component.position());
            TomlValue table = component.entries().get("config");
            if (table instanceof TomlValue.Table values) {
                config.add("", values);
            } else if (table != null) {
                throw Failures.at(table.position(), "config must be a table, it is " + table.kind());
            }
            if (enabled) {
                components.add(new Component(kind, required, sha256(component), component.position()));
                configurations.put(kind, Collections.unmodifiableMap(config.values));
                positions.put(kind, config.positions);
                Optional.ofNullable(component.entries().get("sha256")).ifPresent(pin -> pins.put(kind, pin.position()));
            }
        }

        /** Looks at the keys of a table of the file's. */
        void members(TomlValue.Table file, String name, Set<String> known) {
            if (file.entries().get(name) instanceof TomlValue.Table table) {
                table.entries()
                        .forEach((key, value) -> check(() -> unknown(key, known, "[" + name + "]", value.position())));
            }
        }

        private void unknown(TomlValue.Table component, String kind, String key, TomlValue value) {
            // The only table that a component has is its configuration, which would not be in force.
            if (!COMPONENT_KEYS.contains(key)
                    && value instanceof TomlValue.Table
                    && (key.toLowerCase(Locale.ROOT).startsWith("conf")
                            || !component.entries().containsKey("config"))) {
                throw Failures.at(
                        value.position(),
                        "\"" + key + "\" is not a known key of component \"" + kind + "\"; did you mean \"config\"?");
            }
            unknown(key, COMPONENT_KEYS, "component \"" + kind + "\"", value.position());
        }

        private void unknown(String key, Set<String> known, String where, Position position) {
            if (known.contains(key)) {
                return;
            }
            String text = "\"" + key + "\" is not a known key of " + where + Spelling.instead(key, known);
            if (unknownField.equals("error") || Spelling.meant(key, known).isPresent()) {
                throw Failures.at(position, text);
            }
            if (unknownField.equals("warn")) {
                notes.add(position + ": ignored: " + text);
            }
        }
    }

    @Override
    public List<Component> components() {
        return components;
    }

    @Override
    public Optional<Position> position(String kind, String key) {
        Map<String, Position> known = positions.get(kind);
        if (known == null) {
            return Optional.empty();
        }
        String at = key;
        while (!known.containsKey(at)) {
            at = at.substring(0, Math.max(0, at.lastIndexOf('.')));
        }
        return Optional.of(known.get(at));
    }

    @Override
    public Optional<Position> pin(String kind) {
        return Optional.ofNullable(pins.get(kind)).or(() -> position(kind, ""));
    }

    @Override
    public Map<String, Object> configuration(String kind) {
        return configurations.getOrDefault(kind, Map.of());
    }

    @Override
    public List<String> problems() {
        return problems;
    }

    @Override
    public List<String> notes() {
        return notes;
    }

    private static List<TomlValue> items(TomlValue.Table file) {
        return switch (file.entries().get("components")) {
            case null -> List.of();
            case TomlValue.Array(List<TomlValue> items, Position _) -> items;
            case TomlValue other ->
                throw Failures.at(other.position(), "components must be an array of tables, it is " + other.kind());
        };
    }

    private static String kind(TomlValue.Table component) {
        TomlValue kind = component.entries().get("kind");
        if (kind == null) {
            throw Failures.at(component.position(), "a component needs a kind");
        }
        if (kind instanceof Scalar(String text, Position _)
                && !text.isEmpty()
                && text.chars().allMatch(Plugins::allowedInKind)) {
            return text;
        }
        throw Failures.at(kind.position(), "kind must be a string of letters, digits, '.', '_' and '-'");
    }

    private static boolean allowedInKind(int c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-';
    }

    private static Optional<Boolean> flag(TomlValue.Table component, String key) {
        return switch (component.entries().get(key)) {
            case null -> Optional.empty();
            case Scalar(Boolean flag, Position _) -> Optional.of(flag);
            case TomlValue other ->
                throw Failures.at(other.position(), key + " must be true or false, it is " + other.kind());
        };
    }

    private static Optional<String> sha256(TomlValue.Table component) {
        return switch (component.entries().get("sha256")) {
            case null -> Optional.empty();
            case Scalar(String digest, Position _)
            when SHA256.matcher(digest).matches() -> Optional.of(digest.toLowerCase(Locale.ROOT));
            case TomlValue other ->
                throw Failures.at(other.position(), "sha256 must be the file's SHA-256 as 64 hexadecimal digits");
        };
    }

    /** Checks {@code [policy]} and returns what becomes of unknown fields. */
    private static String policy(TomlValue.Table file) {
        String unknownField = "warn";
        TomlValue policy = file.entries().get("policy");
        if (policy == null) {
            return unknownField;
        }
        if (!(policy instanceof TomlValue.Table(Map<String, TomlValue> entries, Position _))) {
            throw Failures.at(policy.position(), "policy must be a table, it is " + policy.kind());
        }
        for (Map.Entry<String, TomlValue> entry : entries.entrySet()) {
            boolean known = POLICY_KEYS.contains(entry.getKey());
            if (known
                    && entry.getValue() instanceof Scalar(String word, Position _)
                    && (word.equals("ignore") || word.equals("warn") || word.equals("error"))) {
                unknownField = entry.getKey().equals("unknown_field") ? word : unknownField;
            } else if (known) {
                throw Failures.at(
                        entry.getValue().position(),
                        "[policy] " + entry.getKey() + " must be \"ignore\", \"warn\" or \"error\"");
            }
        }
        return unknownField;
    }

    /** The stock relay's plugin processes do not run here: silence would look like a policy in force. */
    private static void stockPlugins(TomlValue.Table file, List<String> notes) {
        TomlValue plugins = file.entries().get("plugins");
        if (plugins instanceof TomlValue.Table table && table.entries().containsKey("dynamic")) {
            notes.add(
                    table.entries().get("dynamic").position()
                            + ": ignored: [[plugins.dynamic]] names plugin processes of another runtime; plugins here are bundles");
        }
    }

    /** A table as flat properties; an array of scalars stays one value, tables inside arrays are numbered. */
    private static final class Flattened {
        final Map<String, Object> values = new LinkedHashMap<>();
        final Map<String, Position> positions = new HashMap<>();
        private final Map<String, String> spelling = new HashMap<>();

        Flattened(Position component) {
            positions.put("", component);
        }

        void add(String key, TomlValue value) {
            if (!key.isEmpty()) {
                positions.put(key, value.position());
            }
            switch (value) {
                case TomlValue.Table(Map<String, TomlValue> entries, Position _) ->
                    entries.forEach((name, entry) -> add(named(key, name, entry.position()), entry));
                case TomlValue.Array(List<TomlValue> items, Position position) -> {
                    if (items.stream().allMatch(Scalar.class::isInstance)) {
                        put(key, array(key, items, position), position);
                    } else {
                        for (int i = 0; i < items.size(); i++) {
                            add(key + "." + i, items.get(i));
                        }
                    }
                }
                case Scalar(Object scalar, Position position) -> put(key, plain(scalar), position);
            }
        }

        /** Dots divide names, so none may begin or end with one; what has no name could be nobody's value. */
        private static String named(String table, String name, Position position) {
            if (List.of(name.split("\\.", -1)).contains("")) {
                throw Failures.at(
                        position,
                        "config key " + (table.isEmpty() ? "" : table + ".") + "\"" + name + "\" "
                                + (name.isEmpty() ? "is empty, give it a name" : "has a dot without a name beside it"));
            }
            return table.isEmpty() ? name : table + "." + name;
        }

        /** Configuration Admin ignores the case of names. */
        private void put(String key, Object value, Position position) {
            String other = spelling.putIfAbsent(key.toLowerCase(Locale.ROOT), key);
            if (other != null) {
                throw Failures.at(position, "config key " + key + " differs from " + other + " in case or dots only");
            }
            values.put(key, value);
        }

        private static Object plain(Object scalar) {
            return scalar instanceof Long || scalar instanceof Double || scalar instanceof Boolean
                    ? scalar
                    : scalar.toString();
        }

        private static Object array(String key, List<TomlValue> items, Position position) {
            List<Object> scalars = new ArrayList<>();
            for (TomlValue item : items) {
                scalars.add(plain(((Scalar) item).value()));
            }
            if (scalars.stream().allMatch(String.class::isInstance)) {
                return scalars.toArray(String[]::new);
            }
            if (scalars.stream().allMatch(Long.class::isInstance)) {
                return scalars.toArray(Long[]::new);
            }
            if (scalars.stream().allMatch(Boolean.class::isInstance)) {
                return scalars.toArray(Boolean[]::new);
            }
            if (scalars.stream().allMatch(Number.class::isInstance)) {
                return scalars.stream().map(n -> ((Number) n).doubleValue()).toArray(Double[]::new);
            }
            throw Failures.at(position, "config key " + key + " must be an array of one type of value");
        }
    }
}
