package org.nemorelay.identity.internal;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
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
 * A fresh P-256 key with its certificate, in DER. The key is PKCS#8 with the public key inside, which strict readers want
 * and the Java runtime leaves out.
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

    /** basicConstraints, critical: an authority; keyUsage, critical: to sign certificates. */
    private static final byte[] AUTHORITY =
            HEX.parseHex("300f0603551d130101ff040530030101ff" + "300e0603551d0f0101ff040403020204");
    /** extendedKeyUsage: a server. */
    private static final byte[] SERVER = HEX.parseHex("30130603551d25040c300a06082b06010505070301");

    /** A certificate and the root that signed it, whose key nobody has. */
    public record Vouched(byte[] root, SelfSigned leaf) {}

    /** Makes one for {@code localhost} that it signs itself. */
    public static SelfSigned make() {
        KeyPair pair = keyPair();
        byte[] name = name("nemo-relay hook");
        return new SelfSigned(
                certificate(name, name, pair, pair, alternative(0x82, "localhost".getBytes(StandardCharsets.US_ASCII))),
                privateKey(pair));
    }

    /** Makes a root and a server's certificate for this host, a DNS name or a dotted IPv4 address. */
    public static Vouched vouched(String host) {
        KeyPair root = keyPair();
        KeyPair leaf = keyPair();
        byte[] rootName = name("nemo-relay worker root");
        byte[] names;
        try {
            names = alternative(0x87, InetAddress.ofLiteral(host).getAddress());
        } catch (IllegalArgumentException e) {
            names = alternative(0x82, host.getBytes(StandardCharsets.US_ASCII));
        }
        return new Vouched(
                certificate(rootName, rootName, root, root, AUTHORITY),
                new SelfSigned(
                        certificate(name("nemo-relay worker"), rootName, leaf, root, join(names, SERVER)),
                        privateKey(leaf)));
    }

    /** subjectAltName with one name. */
    private static byte[] alternative(int kind, byte[] name) {
        return sequence(HEX.parseHex("0603551d11"), tagged(0x04, sequence(tagged(kind, name))));
    }

    private static byte[] name(String common) {
        return sequence(tagged(
                0x31, sequence(HEX.parseHex("0603550403"), tagged(0x0c, common.getBytes(StandardCharsets.US_ASCII)))));
    }

    private static KeyPair keyPair() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java runtime makes P-256 keys", e);
        }
    }

    private static byte[] certificate(
            byte[] subject, byte[] issuer, KeyPair owner, KeyPair signedBy, byte[] extensions) {
        byte[] serial = new byte[SERIAL];
        new SecureRandom().nextBytes(serial);
        serial[0] = (byte) (serial[0] & 0x7f | 0x40); // positive, and as long as it says
        byte[] toSign = sequence(
                VERSION_3,
                tagged(0x02, serial),
                ECDSA_SHA256,
                issuer,
                VALIDITY,
                subject,
                owner.getPublic().getEncoded(),
                tagged(0xa3, sequence(extensions)));
        try {
            Signature signer = Signature.getInstance("SHA256withECDSA");
            signer.initSign(signedBy.getPrivate());
            signer.update(toSign);
            return sequence(toSign, ECDSA_SHA256, tagged(0x03, join(new byte[1], signer.sign())));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java runtime signs with P-256 keys", e);
        }
    }

    private static byte[] privateKey(KeyPair pair) {
        byte[] scalar = ((ECPrivateKey) pair.getPrivate()).getS().toByteArray();
        byte[] fixed = new byte[SCALAR];
        int length = Math.min(scalar.length, SCALAR); // a leading zero may be one too many, or missing
        System.arraycopy(scalar, scalar.length - length, fixed, SCALAR - length, length);
        byte[] publicKey = pair.getPublic().getEncoded();
        byte[] point = Arrays.copyOfRange(publicKey, publicKey.length - POINT, publicKey.length);
        return join(KEY_HEAD, fixed, KEY_MIDDLE, point);
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
