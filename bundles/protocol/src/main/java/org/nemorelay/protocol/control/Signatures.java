package org.nemorelay.protocol.control;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Ed25519 by the JDK over raw 32-byte public keys. Stateless; safe for any thread.
 *
 * <p>The provider is named because a search through all of them loads classes that short-lived processes never use.
 */
public final class Signatures {
    public static final int PUBLIC_KEY_LENGTH = 32;
    public static final int SIGNATURE_LENGTH = 64;
    /** The name of the algorithm. */
    public static final String ALGORITHM = "Ed25519";
    /** The provider in {@code java.base} that has it. */
    public static final String PROVIDER = "SunEC";

    /** These methods. */
    public static final SignatureScheme JDK = new SignatureScheme() {
        @Override
        public Octets sign(PrivateKey key, Octets publicKey, byte[] message) {
            return Signatures.sign(key, message);
        }

        @Override
        public boolean verify(Octets publicKey, byte[] message, Octets signature) {
            return Signatures.verify(publicKey, message, signature);
        }
    };

    private static final byte[] X509_PREFIX = HexFormat.of().parseHex("302a300506032b6570032100");

    private Signatures() {}

    public static Octets sign(PrivateKey key, byte[] message) {
        try {
            Signature signature = Signature.getInstance(ALGORITHM, PROVIDER);
            signature.initSign(key);
            signature.update(message);
            return Octets.of(signature.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("an Ed25519 private key of this process does not sign", e);
        }
    }

    /** Whether the signature is the key's over the message; malformed keys and signatures are simply not valid. */
    public static boolean verify(Octets publicKey, byte[] message, Octets signature) {
        if (publicKey.length() != PUBLIC_KEY_LENGTH || signature.length() != SIGNATURE_LENGTH) {
            return false;
        }
        try {
            Signature verifier = Signature.getInstance(ALGORITHM, PROVIDER);
            verifier.initVerify(publicKey(publicKey));
            verifier.update(message);
            return verifier.verify(signature.bytes());
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    private static PublicKey publicKey(Octets raw) throws GeneralSecurityException {
        byte[] encoded = Arrays.copyOf(X509_PREFIX, X509_PREFIX.length + PUBLIC_KEY_LENGTH);
        System.arraycopy(raw.bytes(), 0, encoded, X509_PREFIX.length, PUBLIC_KEY_LENGTH);
        return KeyFactory.getInstance(ALGORITHM, PROVIDER).generatePublic(new X509EncodedKeySpec(encoded));
    }
}
