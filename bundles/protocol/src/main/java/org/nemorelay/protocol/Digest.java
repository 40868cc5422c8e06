package org.nemorelay.protocol;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** A SHA-256 value. Immutable; equality takes the same time wherever two values differ. */
public final class Digest implements Comparable<Digest> {
    public static final int LENGTH = 32;

    private final byte[] bytes;

    private Digest(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Takes a copy of 32 bytes; {@link IllegalArgumentException} for another length. */
    public static Digest of(byte[] bytes) {
        if (bytes.length != LENGTH) {
            throw new IllegalArgumentException("a SHA-256 value has 32 bytes, not " + bytes.length);
        }
        return new Digest(bytes.clone());
    }

    public static Digest sha256(byte[] data) {
        try {
            return new Digest(MessageDigest.getInstance("SHA-256").digest(data));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-256", e);
        }
    }

    public byte[] bytes() {
        return bytes.clone();
    }

    /** 64 lower-case hexadecimal digits. */
    public String hex() {
        return HexFormat.of().formatHex(bytes);
    }

    @Override
    public int compareTo(Digest other) {
        return Arrays.compareUnsigned(bytes, other.bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Digest digest && MessageDigest.isEqual(bytes, digest.bytes);
    }

    @Override
    public int hashCode() {
        return (bytes[0] & 0xff) << 24 | (bytes[1] & 0xff) << 16 | (bytes[2] & 0xff) << 8 | (bytes[3] & 0xff);
    }

    @Override
    public String toString() {
        return hex();
    }
}
