package org.nemorelay.pluginhost.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.osgi.framework.Constants;

/**
 * The main section of a jar's manifest as it is written, which readers of manifests do not agree about where it is wrong, and
 * its headers' entries (OSGi Core 3.2.4). Immutable.
 */
final class ManifestHeaders {
    private static final int MAX_NAME = 70;
    private static final int SHOWN = 100;

    private final Map<String, String> values;

    private ManifestHeaders(Map<String, String> values) {
        this.values = values;
    }

    /** What is wrong, to stand after the name of its place. */
    static final class Wrong extends Exception {
        private static final long serialVersionUID = 1L;

        Wrong(String message) {
            super(message, null, false, false);
        }
    }

    /** An entry of a header: one path or several with the parameters that are theirs. */
    record Clause(List<String> paths, Map<String, Attribute> attributes, Map<String, String> directives) {}

    /** @param type empty for a string */
    record Attribute(String type, String value) {}

    static ManifestHeaders read(byte[] manifest) throws Wrong {
        Map<String, String> values = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        String[] lines = new String(manifest, StandardCharsets.UTF_8).split("\r?\n", -1);
        String last = "";
        for (int i = 0; i < lines.length && !lines[i].isEmpty(); i++) {
            String line = lines[i];
            String place = "line " + (i + 1) + " ";
            if (line.indexOf('\r') >= 0) {
                throw new Wrong(place + "ends with a lone carriage return");
            }
            if (line.startsWith(" ")) {
                if (last.isEmpty()) {
                    throw new Wrong(place + "goes on with a header, and there is none before it");
                }
                values.merge(last, line.substring(1), String::concat);
                continue;
            }
            int colon = line.indexOf(": ");
            last = colon < 0 ? "" : line.substring(0, colon);
            if (!isName(last)) {
                throw new Wrong(place + "is no header, which is a name of at most " + MAX_NAME
                        + " letters and digits, a colon, a blank and a value: " + shown(line));
            }
            if (values.putIfAbsent(last, line.substring(colon + 2)) != null) {
                throw new Wrong(place + "has the header " + last + " a second time");
            }
        }
        return new ManifestHeaders(values);
    }

    private static boolean isName(String name) {
        return !name.isEmpty()
                && name.length() <= MAX_NAME
                && name.chars()
                        .allMatch(c -> c >= 'a' && c <= 'z'
                                || c >= 'A' && c <= 'Z'
                                || c >= '0' && c <= '9'
                                || c == '-'
                                || c == '_');
    }

    Optional<String> value(String name) {
        return Optional.ofNullable(values.get(name)).map(String::strip);
    }

    /** What the value of a header says; none where it is not there. */
    List<Clause> clauses(String name) throws Wrong {
        Optional<String> value = value(name);
        if (value.isEmpty()) {
            return List.of();
        }
        if (value.get().isEmpty()) {
            throw new Wrong("it is empty");
        }
        List<Clause> clauses = new ArrayList<>();
        for (String clause : split(value.get(), ',')) {
            clauses.add(clause(clause, name.equals(Constants.BUNDLE_NATIVECODE)));
        }
        return List.copyOf(clauses);
    }

    /** @param repeats whether an attribute may have several values */
    private static Clause clause(String text, boolean repeats) throws Wrong {
        List<String> paths = new ArrayList<>();
        Map<String, Attribute> attributes = new LinkedHashMap<>();
        Map<String, String> directives = new LinkedHashMap<>();
        Set<String> names = new HashSet<>();
        for (String part : split(text, ';')) {
            int equals = unquoted(part, '=', 0);
            String name = equals < 0 ? part : part.substring(0, equals).strip();
            if (equals < 0 && names.isEmpty() && !part.isEmpty()) {
                paths.add(part);
                continue;
            }
            if (name.isEmpty()) {
                throw new Wrong("an entry is empty: " + shown(text));
            }
            if (equals < 0) {
                throw new Wrong(shown(part) + " has no value, in " + shown(text));
            }
            if (!names.add(name.replaceFirst(":.+", "")) && !repeats) {
                throw new Wrong(shown(name) + " stands twice in " + shown(text));
            }
            String value = plain(part.substring(equals + 1).strip());
            int colon = name.indexOf(':');
            if (name.endsWith(":")) {
                directives.put(name.substring(0, name.length() - 1).strip(), value);
            } else {
                attributes.put(
                        colon < 0 ? name : name.substring(0, colon).strip(),
                        new Attribute(colon < 0 ? "" : name.substring(colon + 1).strip(), value));
            }
        }
        if (paths.isEmpty()) {
            throw new Wrong("an entry does not begin with a name: " + shown(text));
        }
        return new Clause(List.copyOf(paths), attributes, directives);
    }

    /** What stands in quotes is no border. */
    private static List<String> split(String text, char border) throws Wrong {
        List<String> parts = new ArrayList<>();
        int begin = 0;
        for (int at = unquoted(text, border, 0); at >= 0; at = unquoted(text, border, begin)) {
            parts.add(text.substring(begin, at).strip());
            begin = at + 1;
        }
        parts.add(text.substring(begin).strip());
        return parts;
    }

    private static int unquoted(String text, char wanted, int from) throws Wrong {
        boolean quoted = false;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quoted && c == '\\') {
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (!quoted && c == wanted) {
                return i;
            }
        }
        if (quoted) {
            throw new Wrong("a quotation mark is not closed in " + shown(text));
        }
        return -1;
    }

    private static String plain(String value) {
        return value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"")
                ? value.substring(1, value.length() - 1).replaceAll("\\\\(.)", "$1")
                : value;
    }

    /** A part of a header as a message has it. */
    static String shown(String text) {
        return "\"" + (text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…") + "\"";
    }
}
