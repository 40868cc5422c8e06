package org.nemorelay.plugin.piiredaction.internal;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
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
    private final Optional<OwnPattern> pattern;
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
        pattern = config.optionalString("pattern").map(text -> new OwnPattern(config, text));
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
        if (action == Action.REGEX_REPLACE) {
            pattern.ifPresent(own -> own.check(config, replacement));
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

    /** Whether it rewrites a text as it finds it, with a pattern whose groups the replacement may use. */
    boolean rewrites() {
        return action == Action.REGEX_REPLACE && pattern.isPresent();
    }

    String rewritten(String text) {
        return pattern.orElseThrow().replace(text, replacement);
    }

    /** Whether a text, or a name, with a find in it goes as a whole. */
    boolean takesAll() {
        return action == Action.REMOVE;
    }

    /** Whether it leaves some of a find to be read. */
    boolean leavesSome() {
        return action == Action.MASK;
    }

    /** Whether it looks for something, rather than mean every text. */
    boolean looks() {
        return detector.isPresent() || pattern.isPresent();
    }

    /** What stands for a find. */
    String change(String found) {
        return switch (action) {
            case HASH -> hash(found);
            case MASK -> mask(found);
            case REMOVE, REDACT, REGEX_REPLACE -> replacement;
        };
    }

    /** Whether a number is what a detector looks for; a pattern, and an action without either, are for texts. */
    boolean finds(String number) {
        return detector.isPresent() && !detector.get().find(number).isEmpty();
    }

    /** Whether it takes values out that are no texts. */
    boolean removes() {
        return action == Action.REMOVE && !looks();
    }

    /**
     * What of a text it means.
     *
     * @param key under which the text stands; empty for none
     */
    List<Span> spans(String key, String text) {
        if (detector.isPresent()) {
            return detector.get().find(key, text);
        }
        return pattern.isPresent() ? pattern.get().find(text) : List.of(new Span(0, text.length()));
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
