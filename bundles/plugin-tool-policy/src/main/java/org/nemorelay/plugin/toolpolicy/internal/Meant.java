package org.nemorelay.plugin.toolpolicy.internal;

import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Everything in a text for a shell that a rule may mean which denies or asks: rather too much than too little. The text is
 * looked at as a shell reads it, the same line by line, and without a look at quotes, so that no comment and no here-document
 * can hide what stands behind it. Of one text and one thread.
 */
final class Meant {
    private static final int MAX_DEPTH = 8;

    /** So much of a command that something else starts is looked at: there may be as many as words. */
    private static final int MAX_STARTED = 4096;

    /** Characters: what takes more to understand is taken for what the rule means. */
    private static final long MAX_LOOKED_AT = 16L << 20;

    private static final Set<String> RESERVED = Set.of(
            "if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "and", "or", "not", "begin", "always");

    private static final Pattern ASSIGNMENT = Pattern.compile("[A-Za-z_]\\w*(?:\\[[^\\]]*\\])?\\+?=");
    private static final Pattern SEPARATOR = Pattern.compile("<<<|[;&|\\n\\r()`{}]");
    private static final Pattern BLANK = Pattern.compile("\\s+");
    private static final Pattern QUOTES = Pattern.compile("\\$(?=[\"'])|[\"'\\\\]");
    private static final Pattern CONTINUED = Pattern.compile("\\\\\\r?\\n");
    private static final Pattern SPLITTING = Pattern.compile("\\$(?:IFS\\b|\\{IFS[^}]*\\})(?:\\$\\d)?");
    private static final Pattern REDIRECTION = Pattern.compile(
            "(?:\\{\\w+\\}|(?<![^\\s;&|()])\\d+)?"
                    + "(?:&>>?|>>[&|]?|>[&|]?|<<-?(?!<)|<(?!<)[&>]?)(?!\\()\\s*+(?:\"[^\"]*+\"|'[^']*+'|\\\\.|[^\\s;&|()<>\"'\\\\])*+");
    private static final Pattern ALTERNATIVES = Pattern.compile("\\{[^{}\\s]*,[^{}\\s]*\\}");
    private static final Pattern PLAIN = Pattern.compile("[\\w@%+:,./-]*");

    private final Predicate<String> rule;
    private final boolean fed;
    private long left = MAX_LOOKED_AT;
    private final Set<String> seen = new HashSet<>();

    private Meant(Predicate<String> rule, boolean fed) {
        this.rule = rule;
        this.fed = fed;
    }

    /** Whether the rule applies to anything that the text may mean. */
    static boolean any(String text, Predicate<String> rule) {
        String bare = QUOTES.matcher(text).replaceAll("");
        return new Meant(rule, Starters.readsCommands(bare)).text(text, 0);
    }

    private boolean text(String text, int depth) {
        if (depth > MAX_DEPTH || !seen.add(text)) {
            return false;
        }
        left -= text.length();
        if (left < 0) {
            return true;
        }
        if (rule.test(text) || Shell.of(text).commands().stream().anyMatch(rule)) {
            return true;
        }
        for (String piece : SEPARATOR.split(text)) {
            if (rule.test(piece.strip())) {
                return true;
            }
        }
        String split = SPLITTING.matcher(text).replaceAll(" ");
        String joined = CONTINUED.matcher(split).replaceAll("");
        return unquoted(joined) || quoted(split, depth) || lines(joined, depth);
    }

    private boolean unquoted(String text) {
        for (String piece : SEPARATOR.split(REDIRECTION.matcher(text).replaceAll(" "))) {
            String bare = QUOTES.matcher(piece).replaceAll("").strip();
            if (!bare.isEmpty() && command(List.of(BLANK.split(bare)), MAX_DEPTH)) {
                return true;
            }
        }
        return false;
    }

    private boolean quoted(String text, int depth) {
        Words words = Words.of(text);
        return words.commands().stream().anyMatch(command -> command(command, depth))
                || words.texts().stream().anyMatch(inner -> text(inner, depth + 1));
    }

    private boolean lines(String text, int depth) {
        return text.indexOf('\n') >= 0 && text.lines().anyMatch(line -> quoted(line, depth));
    }

    /** A simple command, and each that it may start. */
    private boolean command(List<String> words, int depth) {
        BitSet begins = new BitSet();
        begins.set(0);
        boolean starts = false;
        for (int at = 0; at >= 0 && at < words.size(); at = begins.nextSetBit(at + 1)) {
            String word = words.get(at);
            if (RESERVED.contains(word) || isAssignment(word)) {
                begins.set(at + 1);
            } else if (named(words, at)) {
                return true;
            } else {
                starts |= Starters.mark(words, at, fed, begins);
            }
        }
        return starts && started(words, depth + 1);
    }

    /** Words that are texts for a shell, or for what comes after it. */
    private boolean started(List<String> words, int depth) {
        boolean texts = false;
        for (String word : words.subList(1, words.size())) {
            if (PLAIN.matcher(word).matches()) {
                continue;
            }
            texts = true;
            if (text(word, depth) || text(word.substring(word.indexOf('=') + 1), depth)) {
                return true;
            }
            if (word.startsWith("-")
                    && (text(word.substring(2), depth) || text(word.substring(word.indexOf('c') + 1), depth))) {
                return true;
            }
        }
        return texts && text(String.join(" ", words.subList(1, words.size())), depth);
    }

    /** By the program's own name, whatever folder and case it is written with. */
    private boolean named(List<String> words, int at) {
        StringBuilder line = new StringBuilder();
        for (int i = at; i < words.size() && (at == 0 || line.length() < MAX_STARTED); i++) {
            line.append(i > at ? " " : "").append(words.get(i));
        }
        left -= line.length();
        String first = words.get(at);
        if (ALTERNATIVES.matcher(first).matches()) {
            line.replace(
                    0, first.length(), first.substring(1, first.length() - 1).replace(',', ' '));
            first = line.substring(0, line.indexOf(" "));
        }
        String behind = line.substring(first.length());
        return Stream.of(first, program(first), program(first).toLowerCase(Locale.ROOT))
                .distinct()
                .anyMatch(spelling -> left < 0 || rule.test(spelling + behind));
    }

    static String program(String word) {
        int end = word.length();
        while (end > 0 && word.charAt(end - 1) == '/') {
            end--;
        }
        return word.substring(word.lastIndexOf('/', end - 1) + 1);
    }

    private static boolean isAssignment(String word) {
        return ASSIGNMENT.matcher(word).lookingAt();
    }
}
