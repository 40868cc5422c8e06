package org.nemorelay.files.internal;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** A bearer token, compared in a time that does not tell how much of it was right. */
public record BearerToken(String text) {
    public boolean matches(String authorization) {
        return MessageDigest.isEqual(
                ("Bearer " + text).getBytes(StandardCharsets.UTF_8), authorization.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return "BearerToken";
    }
}
