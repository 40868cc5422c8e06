package org.nemorelay.cli.internal;

import java.util.LinkedHashMap;
import java.util.Map;

/** What {@code plugins.toml} has of a plugin: two truths for programs, one word for people. */
final class Planned {
    private static final String PLANNED = "planned";
    private static final String REQUIRED = "required";

    private Planned() {}

    /** A line of a plugin as people read it, in the same order. */
    static Map<String, Object> inWords(Map<?, ?> line) {
        Map<String, Object> words = new LinkedHashMap<>();
        line.forEach((name, value) -> {
            if (name.equals(PLANNED)) {
                words.put(PLANNED, word(line));
            } else if (!name.equals(REQUIRED)) {
                words.put((String) name, value);
            }
        });
        words.putIfAbsent(PLANNED, word(line));
        return words;
    }

    /**
     * {@code required}, {@code optional} or {@code no}; {@code unknown} where it is not told, and a dash for a file that is no
     * plugin.
     */
    static String word(Map<?, ?> line) {
        if (line.get("kind").equals("")) {
            return "-";
        }
        if (!line.containsKey(PLANNED)) {
            return "unknown";
        }
        return line.get(PLANNED).equals(true) ? (line.get(REQUIRED).equals(true) ? "required" : "optional") : "no";
    }
}
