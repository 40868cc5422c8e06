package org.nemorelay.protocol.control;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.nemorelay.protocol.TokenDigest;

/** The text of a session, data, activation or route token. {@link #toString()} never shows it; equality is constant-time. */
public final class Secret {
    private final String text;

    public Secret(String text) {
        this.text = text;
    }

    /** The secret itself, for the wire only. */
    public String text() {
        return text;
    }

    public TokenDigest digest() {
        return TokenDigest.ofSecret(text);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Secret secret
                && MessageDigest.isEqual(
                        text.getBytes(StandardCharsets.UTF_8), secret.text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public int hashCode() {
        return digest().hashCode();
    }

    @Override
    public String toString() {
        return "Secret[hidden]";
    }
}
