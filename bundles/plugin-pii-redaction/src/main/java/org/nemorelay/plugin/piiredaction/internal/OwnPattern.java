package org.nemorelay.plugin.piiredaction.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.nemorelay.plugin.api.PluginConfig;

/**
 * An administrator's regular expression. Some take time without end over some texts; here that is a failure after
 * {@link #LIMIT_MILLIS}, so that no thread stays with it. Immutable.
 */
final class OwnPattern {
    private static final long LIMIT_MILLIS = 2000;
    /** Characters between two looks at the clock. */
    private static final int STRIDE = 4096;

    private final Pattern pattern;

    OwnPattern(PluginConfig config, String text) {
        try {
            pattern = Pattern.compile(text);
        } catch (PatternSyntaxException e) {
            throw config.failure(
                    "pattern",
                    "is no regular expression: " + e.getDescription()
                            + (e.getIndex() < 0 ? "" : " at character " + (e.getIndex() + 1)) + ", correct it");
        }
    }

    /** Refuses a replacement that names a group which is not there. */
    void check(PluginConfig config, String replacement) {
        try {
            // With nothing as another choice it matches, with all its groups.
            Pattern.compile(pattern.pattern() + "|").matcher("").replaceAll(replacement);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw config.failure(
                    "replacement",
                    "refers to a group that the pattern lacks, or ends in $ or \\; write \\$ for a dollar");
        }
    }

    /** What it finds in a text, without empty finds. */
    List<Span> find(String text) {
        return within(text, matcher -> {
            List<Span> spans = new ArrayList<>();
            while (matcher.find()) {
                if (matcher.end() > matcher.start()) {
                    spans.add(new Span(matcher.start(), matcher.end()));
                }
            }
            return spans;
        });
    }

    /** The text with the replacement for each find. */
    String replace(String text, String replacement) {
        return within(text, matcher -> matcher.replaceAll(replacement));
    }

    private <T> T within(String text, Function<Matcher, T> work) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MILLIS);
        try {
            return work.apply(pattern.matcher(new Timed(text, () -> {
                if (System.nanoTime() - deadline > 0) {
                    throw failure(text, "took more than " + LIMIT_MILLIS + " ms over");
                }
            })));
        } catch (StackOverflowError e) {
            throw failure(text, "went too deep in");
        }
    }

    private IllegalStateException failure(String text, String what) {
        return new IllegalStateException("the pattern " + pattern.pattern() + " " + what + " a text of " + text.length()
                + " characters; write it with fewer repetitions that can take the same characters");
    }

    /** A text that looks at the clock while it is read. Not safe for several threads. */
    private static final class Timed implements CharSequence {
        private final String text;
        private final Runnable clock;
        private int reads;

        Timed(String text, Runnable clock) {
            this.text = text;
            this.clock = clock;
        }

        @Override
        public char charAt(int index) {
            if (++reads % STRIDE == 0) {
                clock.run();
            }
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.substring(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
