package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Patches in Codex's form, read at least as leniently as their readers do, who trim lines. Stateless. */
final class Patch {
    private static final String BLANK = "[\\p{IsWhite_Space}\\p{Cc}\\p{Cf}]";

    private static final Pattern HEADER = Pattern.compile(
            "^B*\\*{3}B*(?:(?:add|update|delete)B+file|moveB+to)B*:B?(.*)$".replace("B", BLANK),
            Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private static final Pattern ENVIRONMENT =
            Pattern.compile("\\*{3}B*environmentB+id".replace("B", BLANK), Pattern.CASE_INSENSITIVE);

    private static final Pattern HEREDOC = Pattern.compile("^<<-?\\s*[\"']?(\\w+)[\"']?$");
    private static final Pattern MOVES =
            Pattern.compile("(?<![\\w./-])(?:cd|pushd)\\s+(?:-\\S*\\s+)*(\"[^\"]*\"|'[^']*'|[^\\s;&|]+)");

    private Patch() {}

    /** The files that its headers name, as they are written; empty for a text that is no patch. */
    static Set<String> files(String text) {
        Set<String> files = new LinkedHashSet<>();
        if (text.contains("***")) {
            // Readers differ on what ends a line, and on whether that is part of a name.
            for (String end : List.of("\n", "\\R")) {
                for (String line : text.split(end)) {
                    Matcher header = HEADER.matcher(line);
                    if (header.matches()) {
                        files.add(header.group(1));
                    }
                }
            }
        }
        return files;
    }

    /** The folders into which a shell goes before it applies the patch, in their order. */
    static List<String> folders(String text) {
        List<String> folders = new ArrayList<>();
        Matcher moves = MOVES.matcher(text.substring(0, Math.max(0, text.indexOf("***"))));
        while (moves.find()) {
            folders.add(moves.group(1));
        }
        return folders;
    }

    /** Whether it is for another environment than the one in which the agent works. */
    static boolean elsewhere(String text) {
        return ENVIRONMENT.matcher(text).find();
    }

    /** Whether a text is one patch and nothing else. */
    static boolean alone(String text) {
        List<String> lines = text.strip().lines().map(String::strip).toList();
        if (lines.size() > 2) {
            Matcher heredoc = HEREDOC.matcher(lines.getFirst());
            if (heredoc.matches() && lines.getLast().equals(heredoc.group(1))) {
                lines = lines.subList(1, lines.size() - 1);
            }
        }
        return lines.size() > 1
                && lines.getFirst().equals("*** Begin Patch")
                && lines.getLast().equals("*** End Patch");
    }
}
