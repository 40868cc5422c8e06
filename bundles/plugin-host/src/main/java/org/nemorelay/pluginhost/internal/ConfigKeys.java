package org.nemorelay.pluginhost.internal;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.nemorelay.config.Spelling;

/**
 * The keys of a component's {@code config} as its bundle's manifest declares them ({@code PluginKind.config}), and what is
 * wrong with a configuration by them. A starting worker and {@code plugins validate} ask the same, before any class of the
 * plugin is loaded. Immutable.
 */
final class ConfigKeys {
    private static final String ITEMS = "[]";
    private static final String ANY = "*";

    /** What is wrong with one key. */
    record Problem(String key, String message) {}

    /** @param path segments; one that ends with [] stands for a table of an array, * for any name */
    private record Key(List<String> path, boolean needed, Type type) {}

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

        record Items(Type each) implements Type {
            @Override
            public String words() {
                return switch (each) {
                    case Text _ -> "an array of strings";
                    case Expression _ -> "an array of regular expressions";
                    case Words(List<String> known) -> "an array of " + String.join(", ", known);
                    case Flag _, Decimal _, Whole _, Items _, Anything _ -> "an array, each " + each.words();
                };
            }

            @Override
            public boolean accepts(Object value) {
                return value.getClass().isArray() && items(value).stream().allMatch(each::accepts);
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

    private final List<Key> keys;

    private ConfigKeys(List<Key> keys) {
        this.keys = keys;
    }

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
        List<Key> keys = new ArrayList<>();
        for (Object entry : entries) {
            keys.add(key(entry.toString().strip()));
        }
        return keys.isEmpty() ? Optional.empty() : Optional.of(new ConfigKeys(List.copyOf(keys)));
    }

    private static Key key(String entry) {
        String[] words = entry.split("\\s+");
        if (words.length != 2) {
            throw new IllegalArgumentException("\"" + entry + "\" is not a key and what it takes");
        }
        boolean needed = words[0].endsWith("!");
        String path = needed ? words[0].substring(0, words[0].length() - 1) : words[0];
        if (!path.matches("[^.\\[\\]]+(\\[])?(\\.[^.\\[\\]]+(\\[])?)*")) {
            throw new IllegalArgumentException("\"" + entry + "\": \"" + path + "\" is no key");
        }
        return new Key(List.of(path.split("\\.")), needed, type(entry, words[1]));
    }

    private static Type type(String entry, String word) {
        if (word.startsWith("[") && word.endsWith("]")) {
            return new Type.Items(type(entry, word.substring(1, word.length() - 1)));
        }
        return switch (word) {
            case "string" -> new Type.Text();
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
        config.forEach((key, value) -> look(key, value).ifPresent(problems::add));
        Set<String> names = config.keySet();
        for (Key key : keys) {
            if (key.needed()) {
                missing(key, 0, "", names, problems);
            }
        }
        return List.copyOf(problems);
    }

    private Optional<Problem> look(String name, Object value) {
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
                return key.type().accepts(value)
                        ? Optional.empty()
                        : Optional.of(new Problem(name, wrong(key.type(), value)));
            }
            if (whole) {
                return Optional.of(
                        new Problem(join(segments, at), "must be " + key.type().words() + ", not a table"));
            }
            if (at == segments.size() || isArray(key.path().get(segment), segments, at)) {
                boolean array = isArray(key.path().get(segment), segments, at);
                return array && value.getClass().isArray() && Array.getLength(value) == 0
                        ? Optional.empty()
                        : Optional.of(new Problem(name, array ? "must be an array of tables" : "must be a table"));
            }
            if (at > deepest) {
                deepest = at;
                known.clear();
            }
            if (at == deepest) {
                known.add(key.path().get(segment).replace(ITEMS, ""));
            }
        }
        String unknown = segments.get(deepest);
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

    private static String join(List<String> segments, int count) {
        return String.join(".", segments.subList(0, count));
    }

    private static String wrong(Type type, Object value) {
        Optional<String> expression = badExpression(type, value);
        if (expression.isPresent()) {
            return expression.get();
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
            case Type.Items(Type each)
            when value.getClass().isArray() ->
                items(value).stream()
                        .flatMap(item -> badExpression(each, item).stream())
                        .findFirst();
            default -> Optional.empty();
        };
    }

    /** In each table that is there and that a key is to be in. */
    private static void missing(Key key, int segment, String prefix, Set<String> names, Set<Problem> problems) {
        String wanted = key.path().get(segment);
        boolean last = segment == key.path().size() - 1;
        if (last) {
            String name = prefix + wanted;
            if (names.stream().noneMatch(other -> other.equals(name) || other.startsWith(name + "."))) {
                problems.add(new Problem(name, "missing; write " + key.type().words()));
            }
            return;
        }
        if (!wanted.endsWith(ITEMS)) {
            String table = prefix + wanted + ".";
            if (names.stream().anyMatch(name -> name.startsWith(table))) {
                missing(key, segment + 1, table, names, problems);
            }
            return;
        }
        String array = prefix + wanted.substring(0, wanted.length() - ITEMS.length()) + ".";
        Set<String> items = new TreeSet<>();
        for (String name : names) {
            int end = name.indexOf('.', array.length());
            if (name.startsWith(array) && end > 0) {
                items.add(name.substring(0, end + 1));
            }
        }
        items.forEach(item -> missing(key, segment + 1, item, names, problems));
    }

    private static List<Object> items(Object array) {
        List<Object> items = new ArrayList<>();
        for (int i = 0; i < Array.getLength(array); i++) {
            items.add(Array.get(array, i));
        }
        return items;
    }
}
