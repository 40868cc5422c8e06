package org.nemorelay.carrier.nats.internal;

import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.EdECPublicKey;
import java.util.Arrays;

/** A fresh NKey of any kind, encoded by this class's own code, so that it checks the product's. */
record Keys(int prefix, KeyPair pair) {
    private static final int OPERATOR = 14 << 3;
    private static final int ACCOUNT = 0;
    private static final int USER = 20 << 3;

    static Keys operator() {
        return of(OPERATOR);
    }

    static Keys account() {
        return of(ACCOUNT);
    }

    static Keys user() {
        return of(USER);
    }

    private static Keys of(int prefix) {
        try {
            return new Keys(prefix, KeyPairGenerator.getInstance("Ed25519").generateKeyPair());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    String publicKey() {
        EdECPublicKey key = (EdECPublicKey) pair.getPublic();
        byte[] encoded = key.getEncoded();
        byte[] raw = new byte[33];
        raw[0] = (byte) prefix;
        System.arraycopy(encoded, encoded.length - 32, raw, 1, 32);
        return base32(summed(raw));
    }

    String seed() {
        byte[] encoded = pair.getPrivate().getEncoded();
        byte[] raw = new byte[34];
        raw[0] = (byte) (18 << 3 | prefix >> 5);
        raw[1] = (byte) ((prefix & 31) << 3);
        System.arraycopy(encoded, encoded.length - 32, raw, 2, 32);
        return base32(summed(raw));
    }

    byte[] sign(byte[] bytes) {
        try {
            Signature signature = Signature.getInstance("Ed25519");
            signature.initSign(pair.getPrivate());
            signature.update(bytes);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] summed(byte[] raw) {
        int crc = 0;
        for (byte b : raw) {
            crc ^= (b & 0xFF) << 8;
            for (int i = 0; i < 8; i++) {
                crc = (crc & 0x8000) == 0 ? crc << 1 : crc << 1 ^ 0x1021;
            }
        }
        byte[] all = Arrays.copyOf(raw, raw.length + 2);
        all[raw.length] = (byte) crc;
        all[raw.length + 1] = (byte) (crc >> 8);
        return all;
    }

    private static String base32(byte[] bytes) {
        StringBuilder bits = new StringBuilder();
        for (byte b : bytes) {
            bits.append(String.format("%8s", Integer.toBinaryString(b & 0xFF)).replace(' ', '0'));
        }
        while (bits.length() % 5 != 0) {
            bits.append('0');
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < bits.length(); i += 5) {
            text.append("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".charAt(Integer.parseInt(bits.substring(i, i + 5), 2)));
        }
        return text.toString();
    }
}
