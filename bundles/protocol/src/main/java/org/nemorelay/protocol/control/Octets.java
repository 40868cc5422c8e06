package org.nemorelay.protocol.control;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;

/** Immutable bytes that are no secret: public keys, nonces, challenge ids, signatures. Equality is constant-time for one length. */
public final class Octets {
    private final byte[] bytes;

    private Octets(byte[] bytes) {
        this.bytes = bytes;
    }

    public static Octets of(byte[] bytes) {
        return new Octets(bytes.clone());
    }

    /** Fresh bytes from the generator. */
    public static Octets random(SecureRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return new Octets(bytes);
    }

    public byte[] bytes() {
        return bytes.clone();
    }

    public int length() {
        return bytes.length;
    }

    public String hex() {
        return HexFormat.of().formatHex(bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Octets octets && MessageDigest.isEqual(bytes, octets.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return hex();
    }
}
