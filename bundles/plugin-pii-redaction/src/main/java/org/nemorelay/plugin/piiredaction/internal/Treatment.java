package org.nemorelay.plugin.piiredaction.internal;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.nemorelay.plugin.api.PluginConfig;

/** What becomes of one text: an action on what a detector or pattern finds in it, or on the whole. Immutable. */
final class Treatment {
    private enum Action {
        REMOVE,
        REDACT,
        REGEX_REPLACE,
        HASH,
        MASK
    }

    private final Action action;
    private final Optional<Detector> detector;
    private final Optional<Pattern> pattern;
    private final String replacement;
    private final String maskCharacter;
    private final int unmaskedPrefix;
    private final int unmaskedSuffix;

    Treatment(PluginConfig config) {
        action = switch (config.string("action")) {
            case "remove" -> Action.REMOVE;
            case "redact" -> Action.REDACT;
            case "regex_replace" -> Action.REGEX_REPLACE;
            case "hash" -> Action.HASH;
            case "mask" -> Action.MASK;
            case String other ->
                throw config.failure(
                        "action", "\"" + other + "\" is not one of remove, redact, regex_replace, hash, mask");
        };
        detector = config.optionalString("detector").map(word -> detector(config, word));
        pattern = config.optionalString("pattern").map(text -> pattern(config, text));
        if (detector.isPresent() && pattern.isPresent()) {
            throw config.failure("pattern", "either a pattern or a detector, not both");
        }
        if ((action == Action.REDACT || action == Action.REGEX_REPLACE) && detector.isEmpty() && pattern.isEmpty()) {
            throw config.failure("action", "needs a detector or a pattern");
        }
        replacement = config.string("replacement", "[REDACTED]");
        maskCharacter = config.string("mask_char", "*");
        if (maskCharacter.codePointCount(0, maskCharacter.length()) != 1) {
            throw config.failure("mask_char", "must be one character");
        }
        unmaskedPrefix = (int) config.integer("unmasked_prefix", emailMask(config) ? 1 : 0, 0, Integer.MAX_VALUE);
        unmaskedSuffix = (int) config.integer("unmasked_suffix", emailMask(config) ? -1 : 0, -1, Integer.MAX_VALUE);
        if (action == Action.REGEX_REPLACE && pattern.isPresent()) {
            try {
                pattern.get().matcher("").replaceAll(replacement);
                Matcher probe = pattern.get().matcher("");
                if (probe.find()) {
                    probe.replaceAll(replacement);
                }
            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                throw config.failure("replacement", "refers to a group that the pattern lacks");
            }
        }
    }

    /** An address keeps its first letter and its domain. */
    private boolean emailMask(PluginConfig config) {
        return action == Action.MASK && detector.equals(Optional.of(Detector.EMAIL));
    }

    private static Detector detector(PluginConfig config, String word) {
        for (Detector detector : Detector.values()) {
            if (detector.word().equals(word)) {
                return detector;
            }
        }
        throw config.failure(
                "detector",
                "\"" + word + "\" is not one of "
                        + String.join(
                                ", ",
                                java.util.Arrays.stream(Detector.values())
                                        .map(Detector::word)
                                        .toList()));
    }

    private static Pattern pattern(PluginConfig config, String text) {
        try {
            return Pattern.compile(text);
        } catch (PatternSyntaxException e) {
            throw config.failure("pattern", "is no regular expression: " + e.getDescription());
        }
    }

    /** The text to record; empty when it is to be removed. */
    Optional<String> of(String text) {
        return switch (action) {
            case REMOVE -> matchesNothing(text) ? Optional.of(text) : Optional.empty();
            case REDACT -> Optional.of(each(text, found -> replacement));
            case REGEX_REPLACE ->
                Optional.of(
                        pattern.isPresent()
                                ? pattern.get().matcher(text).replaceAll(replacement)
                                : each(text, found -> replacement));
            case HASH -> Optional.of(each(text, Treatment::hash));
            case MASK -> Optional.of(each(text, this::mask));
        };
    }

    /** Whether it takes values out that are no texts. */
    boolean removes() {
        return action == Action.REMOVE && detector.isEmpty() && pattern.isEmpty();
    }

    private boolean matchesNothing(String text) {
        return !removes() && spans(text).isEmpty();
    }

    private String each(String text, Function<String, String> change) {
        List<Span> spans = spans(text);
        if (spans.isEmpty()) {
            return text;
        }
        StringBuilder changed = new StringBuilder();
        int at = 0;
        for (Span span : spans) {
            if (span.begin() >= at) {
                changed.append(text, at, span.begin()).append(change.apply(text.substring(span.begin(), span.end())));
                at = span.end();
            }
        }
        return changed.append(text, at, text.length()).toString();
    }

    private List<Span> spans(String text) {
        if (detector.isPresent()) {
            return detector.get().find(text);
        }
        if (pattern.isEmpty()) {
            return List.of(new Span(0, text.length()));
        }
        List<Span> spans = new ArrayList<>();
        Matcher matcher = pattern.get().matcher(text);
        while (matcher.find()) {
            if (matcher.end() > matcher.start()) {
                spans.add(new Span(matcher.start(), matcher.end()));
            }
        }
        return spans;
    }

    private static String hash(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private String mask(String text) {
        int[] points = text.codePoints().toArray();
        int suffix = unmaskedSuffix < 0 ? points.length - text.indexOf('@') : unmaskedSuffix;
        if (unmaskedPrefix + suffix >= points.length) {
            // Nothing would be hidden.
            return maskCharacter.repeat(points.length);
        }
        int hidden = points.length - unmaskedPrefix - suffix;
        return new String(points, 0, unmaskedPrefix)
                + maskCharacter.repeat(hidden)
                + new String(points, points.length - suffix, suffix);
    }
}
