package org.nemorelay.protocol;

import java.nio.charset.StandardCharsets;

/** SHA-256 over the ASCII text of a secret: how route, session, data and activation tokens are kept (relay-daemon 3.1). */
public record TokenDigest(Digest digest) {
    public static TokenDigest ofSecret(String text) {
        return new TokenDigest(Digest.sha256(text.getBytes(StandardCharsets.UTF_8)));
    }
}
