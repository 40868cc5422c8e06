package org.nemorelay.protocol;

import java.util.Base64;
import java.util.Optional;

/** A client token: 32 random bytes as 43 characters of base64url. {@link #toString()} never shows it (relay-daemon 4.5). */
public final class RouteToken {
    private static final int TEXT_LENGTH = 43;

    private final String text;

    private RouteToken(String text) {
        this.text = text;
    }

    /** The token that {@code text} spells exactly, or nothing. */
    public static Optional<RouteToken> parse(String text) {
        if (text.length() != TEXT_LENGTH) {
            return Optional.empty();
        }
        try {
            byte[] raw = Base64.getUrlDecoder().decode(text);
            boolean canonical = raw.length == 32
                    && Base64.getUrlEncoder()
                            .withoutPadding()
                            .encodeToString(raw)
                            .equals(text);
            return canonical ? Optional.of(new RouteToken(text)) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The secret itself, for the wire and the token file only. */
    public String text() {
        return text;
    }

    public TokenDigest digest() {
        return TokenDigest.ofSecret(text);
    }

    @Override
    public String toString() {
        return "RouteToken[hidden]";
    }
}
