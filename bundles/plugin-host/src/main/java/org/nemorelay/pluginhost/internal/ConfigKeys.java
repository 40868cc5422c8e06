package org.nemorelay.pluginhost.internal;

import java.lang.reflect.Array;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;
import org.nemorelay.config.Spelling;

/**
 * The keys of a component's {@code config} as its bundle's manifest declares them ({@code PluginKind.config}), and what is
 * wrong with a configuration by them. A starting worker and {@code plugins validate} ask the same, before any class of the
 * plugin is loaded. Immutable.
 */
final class ConfigKeys {
    private static final String ITEMS = "[]";
    private static final String ANY = "*";
    private static final Pattern GROUP = Pattern.compile("(.+\\.)?\\{([^{}]+)}");

    /** What is wrong with one key. */
    record Problem(String key, String message) {}

    /** @param path segments; one that ends with [] stands for a table of an array, * for any name */
    private record Key(List<String> path, boolean needed, Type type, List<Condition> conditions) {}

    /**
     * How many of some keys of one table there are to be.
     *
     * @param table segments as of a key; none for the configuration itself
     * @param names one that ends with [] is there when it has an item
     */
    private record Group(List<String> table, List<String> names, Type.Whole count, List<Condition> conditions) {}

    /** What another key says; the arrays that it shares with the key that it is about have the same index there. */
    private record Condition(List<String> path, List<String> words, boolean unless) {
        boolean holds(String name, Map<String, Object> config) {
            List<String> segments = Arrays.asList(name.split("\\."));
            StringBuilder other = new StringBuilder();
            int at = 0;
            for (String segment : path) {
                boolean array = segment.endsWith(ITEMS);
                other.append(other.isEmpty() ? "" : ".").append(plain(segment));
                if (array) {
                    other.append('.').append(segments.get(at + 1));
                }
                at += array ? 2 : 1;
            }
            Object value = config.get(other.toString());
            return (value != null && words.contains(value.toString())) != unless;
        }

        String text() {
            return (unless ? " unless " : " where ") + path.getLast() + " is " + String.join(" or ", words);
        }
    }

    /** What a key takes. */
    private sealed interface Type {
        /** To stand after "must be". */
        String words();

        boolean accepts(Object value);

        record Text() implements Type {
            @Override
            public String words() {
                return "a string";
            }

            @Override
            public boolean accepts(Object value) {
                return value instanceof String;
            }
        }

        record Expression() implements Type {
            @Override
            public String words() {
                return "a regular expression";
            }

            @Override
            public boolean accepts(Object value) {
                try {
                    return value instanceof String text && Pattern.compile(text) != null;
                } catch (PatternSyntaxException e) {
                    return false;
                }
            }
        }

        record Flag() implements Type {
            @Override
            public String words() {
                return "true or false";
            }

            @Override
            public boolean accepts(Object value) {
                return value instanceof Boolean;
            }
        }

        record Decimal() implements Type {
            @Override
            public String words() {
                return "a number";
            }

            @Override
            public boolean accepts(Object value) {
                return value instanceof Number;
            }
        }

        record Whole(long min, long max) implements Type {
            @Override
            public String words() {
                return min == Long.MIN_VALUE && max == Long.MAX_VALUE
                        ? "an integer"
                        : max == Long.MAX_VALUE
                                ? "an integer of " + min + " or more"
                                : min == max ? "the integer " + min : "an integer from " + min + " to " + max;
            }

            @Override
            public boolean accepts(Object value) {
                return value instanceof Long number && number >= min && number <= max;
            }
        }

        record Words(List<String> known) implements Type {
            @Override
            public String words() {
                return known.size() == 1 ? known.getFirst() : "one of " + String.join(", ", known);
            }

            @Override
            public boolean accepts(Object value) {
                return (value instanceof String || value instanceof Boolean) && known.contains(value.toString());
            }
        }

        /** A string with something about it. */
        record Shaped(Shape shape) implements Type {
            @Override
            public String words() {
                return shape.words;
            }

            @Override
            public boolean accepts(Object value) {
                return value instanceof String text && shape.fits(text);
            }
        }

        record Items(Type each, boolean filled) implements Type {
            @Override
            public String words() {
                return switch (each) {
                    case Text _ -> "an array of strings";
                    case Expression _ -> "an array of regular expressions";
                    case Words(List<String> known) -> "an array of " + String.join(", ", known);
                    case Flag _, Decimal _, Whole _, Shaped _, Items _, Anything _ -> "an array, each " + each.words();
                };
            }

            @Override
            public boolean accepts(Object value) {
                return value.getClass().isArray()
                        && !(filled && isEmpty(value))
                        && !(filled && each instanceof Expression && hasBlank(value))
                        && items(value).stream().allMatch(each::accepts);
            }
        }

        /** Whatever it is: the plugin itself looks. */
        record Anything() implements Type {
            @Override
            public String words() {
                return "something";
            }

            @Override
            public boolean accepts(Object value) {
                return true;
            }
        }
    }

    private enum Shape {
        FILLED("a string that is not blank"),
        NAME("a string that is not empty and has no blanks around it"),
        CHARACTER("one character"),
        POINTER("a JSON pointer, which begins with /"),
        URL("an http or https URL");

        final String words;

        Shape(String words) {
            this.words = words;
        }

        boolean fits(String text) {
            return switch (this) {
                case FILLED -> !text.isBlank();
                case NAME -> !text.isBlank() && text.equals(text.strip());
                case CHARACTER -> text.codePointCount(0, text.length()) == 1;
                case POINTER -> text.isEmpty() || text.startsWith("/");
                case URL -> {
                    try {
                        URI uri = new URI(text);
                        yield uri.getHost() != null
                                && ("http".equalsIgnoreCase(uri.getScheme())
                                        || "https".equalsIgnoreCase(uri.getScheme()));
                    } catch (URISyntaxException e) {
                        yield false;
                    }
                }
            };
        }
    }

    private final List<Key> keys = new ArrayList<>();
    private final List<Group> groups = new ArrayList<>();

    /**
     * Reads what a manifest declares.
     *
     * @return empty where it declares nothing
     * @throws IllegalArgumentException names the entry that makes no sense
     */
    static Optional<ConfigKeys> of(Object attribute) {
        Collection<?> entries = switch (attribute) {
            case null -> List.of();
            case Collection<?> several -> several;
            default -> List.of(attribute);
        };
        ConfigKeys declared = new ConfigKeys();
        entries.forEach(entry -> declared.add(entry.toString().strip()));
        return entries.isEmpty() ? Optional.empty() : Optional.of(declared);
    }

    private void add(String entry) {
        String[] words = entry.split("\\s+");
        if (words.length < 2 || words.length % 2 == 1) {
            throw new IllegalArgumentException("\"" + entry + "\" is not a key and what it takes");
        }
        List<Condition> conditions = new ArrayList<>();
        for (int i = 2; i < words.length; i += 2) {
            conditions.add(condition(entry, words[i], words[i + 1]));
        }
        Matcher group = GROUP.matcher(words[0]);
        if (group.matches()) {
            if (!(type(entry, words[1]) instanceof Type.Whole count)) {
                throw new IllegalArgumentException("\"" + entry + "\": \"" + words[1] + "\" is not how many");
            }
            String table = group.group(1);
            List<String> path = table == null ? List.of() : path(entry, table.substring(0, table.length() - 1));
            List<String> names = List.of(group.group(2).split("\\|"));
            groups.add(new Group(path, names, count, about(entry, path, conditions)));
            return;
        }
        boolean needed = words[0].endsWith("!");
        List<String> path = path(entry, needed ? words[0].substring(0, words[0].length() - 1) : words[0]);
        keys.add(new Key(path, needed, type(entry, words[1]), about(entry, path, conditions)));
    }

    /** Refuses conditions in an item of an array that the key is not in. */
    private static List<Condition> about(String entry, List<String> path, List<Condition> conditions) {
        for (Condition condition : conditions) {
            for (int i = 0; i < condition.path().size(); i++) {
                String segment = condition.path().get(i);
                if (segment.endsWith(ITEMS) && (i >= path.size() || !segment.equals(path.get(i)))) {
                    throw new IllegalArgumentException(
                            "\"" + entry + "\": it is in no item of \"" + plain(segment) + "\"");
                }
            }
        }
        return List.copyOf(conditions);
    }

    private static List<String> path(String entry, String path) {
        if (!path.matches("[^.\\[\\]{}]+(\\[])?(\\.[^.\\[\\]{}]+(\\[])?)*")) {
            throw new IllegalArgumentException("\"" + entry + "\": \"" + path + "\" is no key");
        }
        return List.of(path.split("\\."));
    }

    private static Condition condition(String entry, String word, String text) {
        int equals = text.indexOf('=');
        if (!word.equals("if") && !word.equals("unless") || equals < 1) {
            throw new IllegalArgumentException(
                    "\"" + entry + "\": \"" + word + " " + text + "\" is no condition, write if KEY=WORD|WORD");
        }
        return new Condition(
                path(entry, text.substring(0, equals)),
                List.of(text.substring(equals + 1).split("\\|")),
                word.equals("unless"));
    }

    private static Type type(String entry, String word) {
        if (word.matches("\\[.+]\\+?")) {
            return new Type.Items(type(entry, word.substring(1, word.lastIndexOf(']'))), word.endsWith("+"));
        }
        return switch (word) {
            case "string" -> new Type.Text();
            case "string+" -> new Type.Shaped(Shape.FILLED);
            case "name" -> new Type.Shaped(Shape.NAME);
            case "character" -> new Type.Shaped(Shape.CHARACTER);
            case "pointer" -> new Type.Shaped(Shape.POINTER);
            case "url" -> new Type.Shaped(Shape.URL);
            case "regex" -> new Type.Expression();
            case "boolean" -> new Type.Flag();
            case "number" -> new Type.Decimal();
            case "integer" -> new Type.Whole(Long.MIN_VALUE, Long.MAX_VALUE);
            case "any" -> new Type.Anything();
            default -> {
                if (word.matches("-?\\d{1,18}\\.\\.(-?\\d{1,18})?")) {
                    String[] ends = word.split("\\.\\.");
                    yield new Type.Whole(
                            Long.parseLong(ends[0]), ends.length == 1 ? Long.MAX_VALUE : Long.parseLong(ends[1]));
                }
                if (word.matches("=[\\w.-]+(\\|[\\w.-]+)*")) {
                    yield new Type.Words(List.of(word.substring(1).split("\\|")));
                }
                throw new IllegalArgumentException("\"" + entry + "\": \"" + word + "\" is no kind of value");
            }
        };
    }

    /** What is wrong with a configuration, flattened with dots as Configuration Admin gets it; in the order of its keys. */
    List<Problem> problems(Map<String, Object> config) {
        Set<Problem> problems = new LinkedHashSet<>();
        config.forEach((key, value) -> look(key, value, config).ifPresent(problems::add));
        Set<String> names = config.keySet();
        for (Key key : keys) {
            if (key.needed()) {
                List<String> table = key.path().subList(0, key.path().size() - 1);
                for (String prefix : tables(table, names)) {
                    String name = prefix + key.path().getLast();
                    if (holds(key.conditions(), name, config) && !isThere(name, config)) {
                        problems.add(
                                new Problem(name, "missing; write " + key.type().words()));
                    }
                }
            }
        }
        for (Group group : groups) {
            for (String prefix : tables(group.table(), names)) {
                if (holds(group.conditions(), prefix, config)) {
                    counted(group, prefix, config).ifPresent(problems::add);
                }
            }
        }
        return List.copyOf(problems);
    }

    private static boolean holds(List<Condition> conditions, String name, Map<String, Object> config) {
        return conditions.stream().allMatch(condition -> condition.holds(name, config));
    }

    private static Optional<Problem> counted(Group group, String prefix, Map<String, Object> config) {
        List<String> there = group.names().stream()
                .filter(name -> isThere(prefix + name, config))
                .map(ConfigKeys::plain)
                .toList();
        List<String> names = group.names().stream().map(ConfigKeys::plain).toList();
        String where = String.join(
                " and", group.conditions().stream().map(Condition::text).toList());
        if (there.size() < group.count().min()) {
            String what = names.size() == 1 ? "it" : "one of " + String.join(", ", names);
            return Optional.of(new Problem(prefix + names.getFirst(), "missing; " + what + " is needed" + where));
        }
        if (there.size() <= group.count().max()) {
            return Optional.empty();
        }
        String key = prefix + there.get((int) group.count().max());
        if (group.count().max() > 0) {
            return Optional.of(
                    new Problem(key, "only one of " + String.join(", ", there) + " may be there, remove the other"));
        }
        return Optional.of(new Problem(
                key,
                where.isEmpty()
                        ? "not supported by this version, remove it"
                        : "has no meaning" + where + ", remove it"));
    }

    private Optional<Problem> look(String name, Object value, Map<String, Object> config) {
        List<String> segments = Arrays.asList(name.split("\\."));
        Set<String> known = new TreeSet<>();
        int deepest = 0;
        for (Key key : keys) {
            int at = 0;
            int segment = 0;
            while (segment < key.path().size() && at < segments.size()) {
                int taken = taken(key.path().get(segment), segments, at);
                if (taken == 0) {
                    break;
                }
                at += taken;
                segment++;
            }
            boolean whole = segment == key.path().size();
            boolean openEnd =
                    key.type() instanceof Type.Anything || key.path().getLast().equals(ANY);
            if (whole && (at == segments.size() || openEnd)) {
                return key.type().accepts(value) || !holds(key.conditions(), name, config)
                        ? Optional.empty()
                        : Optional.of(new Problem(name, wrong(key.type(), value)));
            }
            if (whole) {
                return Optional.of(
                        new Problem(join(segments, at), "must be " + key.type().words() + ", not a table"));
            }
            if (at == segments.size() || isArray(key.path().get(segment), segments, at)) {
                boolean array = isArray(key.path().get(segment), segments, at);
                return array && value.getClass().isArray() && isEmpty(value)
                        ? Optional.empty()
                        : Optional.of(new Problem(name, array ? "must be an array of tables" : "must be a table"));
            }
            if (key.path().get(segment).equals(segments.get(at) + ITEMS)) {
                String table = table(segments, at + 1);
                return Optional.of(new Problem(
                        join(segments, at + 1),
                        "must be an array of tables: write [[" + table + "]], not [" + table + "]"));
            }
            if (at > deepest) {
                deepest = at;
                known.clear();
            }
            if (at == deepest) {
                known.add(plain(key.path().get(segment)));
            }
        }
        String unknown = segments.get(deepest);
        if (deepest > 0 && unknown.matches("\\d+")) {
            return Optional.of(new Problem(
                    join(segments, deepest),
                    "must be one table, not an array of tables: write [" + table(segments, deepest) + "], once"));
        }
        return Optional.of(new Problem(
                join(segments, deepest + 1),
                "unknown key" + Spelling.instead(unknown, known).replace("; known:", "; known here:")));
    }

    /** How many segments of a key one of a path stands for; 0 where they differ. */
    private static int taken(String wanted, List<String> segments, int at) {
        if (!wanted.endsWith(ITEMS)) {
            return wanted.equals(ANY) || wanted.equals(segments.get(at)) ? 1 : 0;
        }
        boolean item = wanted.equals(segments.get(at) + ITEMS)
                && at + 1 < segments.size()
                && segments.get(at + 1).matches("\\d+");
        return item ? 2 : 0;
    }

    /** Whether a key ends where an array of tables is wanted. */
    private static boolean isArray(String wanted, List<String> segments, int at) {
        return at == segments.size() - 1 && wanted.equals(segments.get(at) + ITEMS);
    }

    /** How the header of a table in plugins.toml names it. */
    private static String table(List<String> segments, int count) {
        return "components.config."
                + segments.stream()
                        .limit(count)
                        .filter(segment -> !segment.matches("\\d+"))
                        .collect(Collectors.joining("."));
    }

    private static String plain(String segment) {
        return segment.endsWith(ITEMS) ? segment.substring(0, segment.length() - ITEMS.length()) : segment;
    }

    private static String join(List<String> segments, int count) {
        return String.join(".", segments.subList(0, count));
    }

    private static String wrong(Type type, Object value) {
        Optional<String> expression = badExpression(type, value);
        if (expression.isPresent()) {
            return expression.get();
        }
        if (type instanceof Type.Items(Type.Expression _, boolean filled)
                && filled
                && value.getClass().isArray()
                && hasBlank(value)) {
            return "has a blank expression, which matches everything; write .* to mean that";
        }
        if (type instanceof Type.Items && value.getClass().isArray() && isEmpty(value)) {
            return "is empty; name something, or remove it";
        }
        boolean shown = value instanceof Number || value instanceof Boolean || type instanceof Type.Words;
        return "must be " + type.words() + (shown ? ", not " + value : "");
    }

    /** Why one is no regular expression, without it: it may be long. */
    private static Optional<String> badExpression(Type type, Object value) {
        return switch (type) {
            case Type.Expression _
            when value instanceof String text -> {
                try {
                    Pattern.compile(text);
                    yield Optional.empty();
                } catch (PatternSyntaxException e) {
                    yield Optional.of("is no regular expression: " + e.getDescription()
                            + (e.getIndex() < 0 ? "" : " at character " + (e.getIndex() + 1)) + ", correct it");
                }
            }
            case Type.Items(Type each, boolean _)
            when value.getClass().isArray() ->
                items(value).stream()
                        .flatMap(item -> badExpression(each, item).stream())
                        .findFirst();
            default -> Optional.empty();
        };
    }

    /** How the names in each table of this path begin, of those tables that are there. */
    private static List<String> tables(List<String> path, Set<String> names) {
        List<String> prefixes = List.of("");
        for (String segment : path) {
            Set<String> inner = new TreeSet<>();
            for (String prefix : prefixes) {
                String table = prefix + plain(segment) + ".";
                for (String name : names) {
                    int end = segment.endsWith(ITEMS) ? name.indexOf('.', table.length()) + 1 : table.length();
                    if (name.startsWith(table) && end > 0) {
                        inner.add(name.substring(0, end));
                    }
                }
            }
            prefixes = List.copyOf(inner);
        }
        return prefixes;
    }

    /** Whether there is a value, a table or, for a name that ends with [], an array that is not empty. */
    private static boolean isThere(String name, Map<String, Object> config) {
        String key = plain(name);
        Object value = config.get(key);
        return config.keySet().stream().anyMatch(other -> other.startsWith(key + "."))
                || value != null && !(name.endsWith(ITEMS) && value.getClass().isArray() && isEmpty(value));
    }

    private static boolean isEmpty(Object array) {
        return Array.getLength(array) == 0;
    }

    private static boolean hasBlank(Object array) {
        return items(array).stream().anyMatch(item -> item instanceof String text && text.isBlank());
    }

    private static List<Object> items(Object array) {
        List<Object> items = new ArrayList<>();
        for (int i = 0; i < Array.getLength(array); i++) {
            items.add(Array.get(array, i));
        }
        return items;
    }
}
