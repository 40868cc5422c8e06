package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An administrator searches docs/troubleshoot.md for the words of a message, so each that is there is said somewhere. */
class DocumentedMessagesTest {
    private static final Path REPOSITORY = repository();
    private static final Pattern LITERAL =
            Pattern.compile("\"\"\"(.*?)\"\"\"|\"((?:[^\"\\\\\\n]|\\\\.)*+)\"", Pattern.DOTALL);
    private static final Pattern CONSTANT = Pattern.compile("\\b[A-Z][A-Z_]+\\b");
    private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");
    /** What stands for something else in a message, and what differs from one to the next. */
    private static final String VARIABLE = "…|\"|=|\\b[A-Z]{3,}\\b|\\d[\\d.,:]*";

    private final StringBuilder texts = new StringBuilder("\n");
    private final Set<String> words = new HashSet<>();

    @Test
    void eachMessageIsSaid() throws IOException {
        read(REPOSITORY.resolve("bundles"));
        read(REPOSITORY.resolve("distribution/src"));
        List<String> unsaid = new ArrayList<>();
        int pieces = 0;
        for (String line : Files.readAllLines(REPOSITORY.resolve("docs/troubleshoot.md"))) {
            // What an agent says is not ours.
            if (!line.startsWith("| ") || line.startsWith("| Codex:")) {
                continue;
            }
            Matcher quoted = QUOTED.matcher(line.substring(1, line.indexOf(" | ")));
            while (quoted.find()) {
                for (String piece : quoted.group(1).split(VARIABLE)) {
                    String wanted = trimmed(piece);
                    pieces += wanted.isEmpty() ? 0 : 1;
                    if (!said(wanted)) {
                        unsaid.add(quoted.group(1) + ": " + wanted);
                    }
                }
            }
        }
        assertEquals(List.of(), unsaid);
        assertTrue(pieces > 100, "the table is read: " + pieces);
    }

    /** Whether its words are those of texts one after the other; one alone is a text of its own, or a constant's name. */
    private boolean said(String piece) {
        String[] all = piece.split(" ");
        int at = 0;
        while (at < all.length) {
            int end = all.length;
            while (end > at + 1 && texts.indexOf(joined(all, at, end)) < 0) {
                end--;
            }
            String one = trimmed(all[at]);
            if (end == at + 1
                    && !one.isEmpty()
                    && !words.contains(one)
                    && !(all.length == 1 && texts.indexOf(one) >= 0)) {
                return false;
            }
            at = end;
        }
        return true;
    }

    private static String joined(String[] words, int begin, int end) {
        return String.join(" ", List.of(words).subList(begin, end));
    }

    private static String trimmed(String text) {
        return text.replaceAll("^[ ,;:()]+|[ ,;:()]+$", "");
    }

    private void read(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(file -> !file.toString().contains("/target/")
                            && !file.toString().contains("/src/test/")
                            && Files.isRegularFile(file))
                    .toList();
        }
        for (Path file : files) {
            String text = Files.readString(file);
            if (file.toString().endsWith(".java")) {
                readJava(text.replaceAll("\"\\s*\\+\\s*\"", ""));
            } else {
                texts.append(text.replaceAll("\\s+", " ")).append('\n');
            }
        }
    }

    private void readJava(String source) {
        Matcher literal = LITERAL.matcher(source);
        while (literal.find()) {
            String text = literal.group(1) == null ? literal.group(2) : literal.group(1);
            String said = text.replace("\\\"", "\"").replaceAll("\\s+", " ");
            texts.append(said).append('\n');
            words.add(said.strip());
        }
        Matcher constant = CONSTANT.matcher(source);
        while (constant.find()) {
            String name = constant.group().toLowerCase(Locale.ROOT);
            words.add(name);
            words.add(header(name));
        }
    }

    /** The header that a constant such as {@code RETRY_AFTER} stands for. */
    private static String header(String name) {
        StringBuilder header = new StringBuilder();
        for (String part : name.split("_")) {
            if (!part.isEmpty()) {
                header.append(header.isEmpty() ? "" : "-")
                        .append(Character.toUpperCase(part.charAt(0)))
                        .append(part.substring(1));
            }
        }
        return header.toString();
    }

    private static Path repository() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/troubleshoot.md"))) {
            folder = folder.getParent();
        }
        return folder;
    }
}
