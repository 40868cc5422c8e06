package org.nemorelay.carrier.nats.internal;

import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.interfaces.EdECPublicKey;
import java.security.spec.NamedParameterSpec;
import java.util.Arrays;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** A user's NKey: Ed25519 in NATS's base 32 with a checksum, signed with by the JDK. */
final class NKey {
    private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    private static final int SEED_PREFIX = 18 << 3;
    private static final int USER_PREFIX = 20 << 3;

    private final KeyPair keys;

    private NKey(KeyPair keys) {
        this.keys = keys;
    }

    /** @param where the file, for the error */
    static NKey fromSeed(String text, String where) {
        try {
            byte[] raw = decode(text.strip());
            int prefix = (raw[0] & 0xF8) == SEED_PREFIX ? (raw[0] & 7) << 5 | (raw[1] & 0xF8) >> 3 : -1;
            if (raw.length != 36 || prefix != USER_PREFIX || checksum(raw, 34) != little(raw, 34)) {
                throw new IllegalArgumentException("not a user seed");
            }
            return new NKey(keys(Arrays.copyOfRange(raw, 2, 34)));
        } catch (IllegalArgumentException | IndexOutOfBoundsException | GeneralSecurityException e) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, where + " holds no user's NKey seed (SU...): write one with nsc or nk");
        }
    }

    /** The JDK makes a pair from 32 random bytes, which are the seed here. */
    private static KeyPair keys(byte[] seed) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
        generator.initialize(NamedParameterSpec.ED25519, new SecureRandom() {
            private static final long serialVersionUID = 1L;

            @Override
            public void nextBytes(byte[] bytes) {
                System.arraycopy(seed, 0, bytes, 0, bytes.length);
            }
        });
        return generator.generateKeyPair();
    }

    byte[] sign(byte[] nonce) {
        try {
            Signature signature = Signature.getInstance("Ed25519");
            signature.initSign(keys.getPrivate());
            signature.update(nonce);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Ed25519 is part of the JDK", e);
        }
    }

    /** The public key, {@code U...}. */
    String publicKey() {
        EdECPublicKey key = (EdECPublicKey) keys.getPublic();
        byte[] big = key.getPoint().getY().toByteArray();
        byte[] raw = new byte[35];
        raw[0] = (byte) USER_PREFIX;
        for (int i = 0; i < Math.min(big.length, 32); i++) {
            raw[1 + i] = big[big.length - 1 - i];
        }
        if (key.getPoint().isXOdd()) {
            raw[32] |= (byte) 0x80;
        }
        int sum = checksum(raw, 33);
        raw[33] = (byte) sum;
        raw[34] = (byte) (sum >> 8);
        return encode(raw);
    }

    private static byte[] decode(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int bits = 0;
        int held = 0;
        for (int i = 0; i < text.length(); i++) {
            int value = ALPHABET.indexOf(text.charAt(i));
            if (value < 0) {
                throw new IllegalArgumentException("not base 32");
            }
            bits = bits << 5 | value;
            held += 5;
            if (held >= 8) {
                held -= 8;
                bytes.write(bits >> held);
                bits &= (1 << held) - 1;
            }
        }
        return bytes.toByteArray();
    }

    private static String encode(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        int bits = 0;
        int held = 0;
        for (byte b : bytes) {
            bits = bits << 8 | b & 0xFF;
            held += 8;
            while (held >= 5) {
                held -= 5;
                text.append(ALPHABET.charAt(bits >> held & 31));
                bits &= (1 << held) - 1;
            }
        }
        if (held > 0) {
            text.append(ALPHABET.charAt(bits << 5 - held & 31));
        }
        return text.toString();
    }

    private static int little(byte[] bytes, int at) {
        return bytes[at] & 0xFF | (bytes[at + 1] & 0xFF) << 8;
    }

    /** CRC-16/XMODEM. */
    private static int checksum(byte[] bytes, int length) {
        int crc = 0;
        for (int i = 0; i < length; i++) {
            crc ^= (bytes[i] & 0xFF) << 8;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
            }
            crc &= 0xFFFF;
        }
        return crc;
    }
}
