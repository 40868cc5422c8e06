package org.nemorelay.protocol.control;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/** Fresh identifiers and secrets (relay-daemon 3.1). Safe for any thread. */
public final class Ids {
    private final SecureRandom random;

    public Ids() {
        this(new SecureRandom());
    }

    public Ids(SecureRandom random) {
        this.random = random;
    }

    /** A UUID version 7: instance ids, worker ids, socket request ids, directive ids. */
    public String uuid7() {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        long now = System.currentTimeMillis();
        for (int i = 0; i < 6; i++) {
            bytes[i] = (byte) (now >>> (40 - 8 * i));
        }
        bytes[6] = (byte) (bytes[6] & 0x0f | 0x70);
        bytes[8] = (byte) (bytes[8] & 0x3f | 0x80);
        String hex = HexFormat.of().formatHex(bytes);
        return new StringBuilder(36)
                .append(hex, 0, 8)
                .append('-')
                .append(hex, 8, 12)
                .append('-')
                .append(hex, 12, 16)
                .append('-')
                .append(hex, 16, 20)
                .append('-')
                .append(hex, 20, 32)
                .toString();
    }

    /** 16 random bytes as 22 characters: activation, generation and session request ids. */
    public String id() {
        return text(16);
    }

    /** 32 random bytes as 43 characters: session, data, activation and route tokens. */
    public Secret secret() {
        return new Secret(text(32));
    }

    /** Random bytes for nonces and challenge ids. */
    public Octets octets(int length) {
        return Octets.random(random, length);
    }

    private String text(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
