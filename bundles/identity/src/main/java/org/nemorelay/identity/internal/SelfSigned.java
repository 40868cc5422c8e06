package org.nemorelay.identity.internal;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A fresh P-256 key with a certificate for {@code localhost} that it signs itself, in DER. The key is PKCS#8 with the public
 * key inside, which strict readers want and the Java runtime leaves out.
 */
public record SelfSigned(byte[] certificate, byte[] privateKey) {
    private static final HexFormat HEX = HexFormat.of();
    private static final int POINT = 65;
    private static final int SCALAR = 32;
    private static final int SERIAL = 20;

    private static final byte[] ECDSA_SHA256 = HEX.parseHex("300a06082a8648ce3d040302");
    private static final byte[] KEY_HEAD =
            HEX.parseHex("308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420");
    private static final byte[] KEY_MIDDLE = HEX.parseHex("a144034200");
    private static final byte[] VERSION_3 = HEX.parseHex("a003020102");
    /** UTCTime up to 2049, GeneralizedTime after it. */
    private static final byte[] VALIDITY = sequence(
            tagged(0x17, "750101000000Z".getBytes(StandardCharsets.US_ASCII)),
            tagged(0x18, "40960101000000Z".getBytes(StandardCharsets.US_ASCII)));
    /** CN. */
    private static final byte[] NAME = sequence(tagged(
            0x31,
            sequence(HEX.parseHex("0603550403"), tagged(0x0c, "nemo-relay hook".getBytes(StandardCharsets.US_ASCII)))));
    /** subjectAltName with one DNS name. */
    private static final byte[] EXTENSIONS = tagged(
            0xa3,
            sequence(sequence(
                    HEX.parseHex("0603551d11"),
                    tagged(0x04, sequence(tagged(0x82, "localhost".getBytes(StandardCharsets.US_ASCII)))))));

    /** Makes one. */
    public static SelfSigned make() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair pair = generator.generateKeyPair();
            byte[] publicKey = pair.getPublic().getEncoded();
            byte[] serial = new byte[SERIAL];
            new SecureRandom().nextBytes(serial);
            serial[0] = (byte) (serial[0] & 0x7f | 0x40); // positive, and as long as it says
            byte[] toSign = sequence(
                    VERSION_3, tagged(0x02, serial), ECDSA_SHA256, NAME, VALIDITY, NAME, publicKey, EXTENSIONS);
            Signature signer = Signature.getInstance("SHA256withECDSA");
            signer.initSign(pair.getPrivate());
            signer.update(toSign);
            byte[] certificate = sequence(toSign, ECDSA_SHA256, tagged(0x03, join(new byte[1], signer.sign())));

            byte[] scalar = ((ECPrivateKey) pair.getPrivate()).getS().toByteArray();
            byte[] fixed = new byte[SCALAR];
            int length = Math.min(scalar.length, SCALAR); // a leading zero may be one too many, or missing
            System.arraycopy(scalar, scalar.length - length, fixed, SCALAR - length, length);
            byte[] point = Arrays.copyOfRange(publicKey, publicKey.length - POINT, publicKey.length);
            return new SelfSigned(certificate, join(KEY_HEAD, fixed, KEY_MIDDLE, point));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java runtime makes P-256 keys", e);
        }
    }

    private static byte[] sequence(byte[]... parts) {
        return tagged(0x30, join(parts));
    }

    private static byte[] tagged(int tag, byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(content.length + 4);
        out.write(tag);
        if (content.length > 0xff) {
            out.write(0x82);
            out.write(content.length >> 8);
        } else if (content.length > 0x7f) {
            out.write(0x81);
        }
        out.write(content.length);
        out.writeBytes(content);
        return out.toByteArray();
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }
}
