package org.nemorelay.identity.internal;

import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.nemorelay.identity.PrivateFiles;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.Octets;
import org.nemorelay.protocol.control.Signatures;
import org.nemorelay.protocol.control.SigningKey;

/** An Ed25519 key on disk as PKCS#8 version 2, the form that other implementations read strictly (relay-daemon 4.1). */
@SuppressWarnings("try") // the lock is held, not used
public final class KeyFile {
    private static final int MAX_BYTES = 4096;
    private static final int LENGTH = 32;
    private static final HexFormat HEX = HexFormat.of();
    private static final byte[] V1_HEAD = HEX.parseHex("302e020100300506032b657004220420");
    private static final byte[] V2_HEAD = HEX.parseHex("3051020101300506032b657004220420");
    private static final byte[] V2_MIDDLE = HEX.parseHex("812100");
    private static final byte[] LONG_HEAD = HEX.parseHex("3053020101300506032b657004220420");
    private static final byte[] LONG_MIDDLE = HEX.parseHex("a123032100");

    private KeyFile() {}

    /** The key in the file, made first when the file does not exist. A file that holds something else is a failure. */
    public static SigningKey loadOrCreate(PrivateFiles files, Path file) {
        files.folder(file.getParent());
        Optional<byte[]> content = files.read(file, MAX_BYTES);
        if (content.isPresent()) {
            return decode(file, content.get());
        }
        // Keys are made and read outside of the lock: either takes long in a process that has just started, and dozens
        // of
        // them may start together.
        byte[] kept = generate();
        try (PrivateFiles.Lock lock = files.lock(file)) {
            Optional<byte[]> meanwhile = files.read(file, MAX_BYTES);
            if (meanwhile.isPresent()) {
                kept = meanwhile.get();
            } else {
                files.write(file, kept);
            }
        }
        return decode(file, kept);
    }

    private static byte[] generate() {
        try {
            KeyPair pair = KeyPairGenerator.getInstance(Signatures.ALGORITHM, Signatures.PROVIDER)
                    .generateKeyPair();
            byte[] seed = ((EdECPrivateKey) pair.getPrivate()).getBytes().orElseThrow();
            byte[] x509 = pair.getPublic().getEncoded();
            return join(V2_HEAD, seed, V2_MIDDLE, Arrays.copyOfRange(x509, x509.length - LENGTH, x509.length));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java runtime makes Ed25519 keys", e);
        }
    }

    private static SigningKey decode(Path file, byte[] content) {
        byte[] middle = starts(content, V2_HEAD) ? V2_MIDDLE : LONG_MIDDLE;
        byte[] head = starts(content, V2_HEAD) ? V2_HEAD : LONG_HEAD;
        int seedAt = head.length;
        int middleAt = seedAt + LENGTH;
        int publicAt = middleAt + middle.length;
        if (content.length != publicAt + LENGTH
                || !starts(content, head)
                || !Arrays.equals(content, middleAt, publicAt, middle, 0, middle.length)) {
            throw corrupt(file, null);
        }
        byte[] seed = Arrays.copyOfRange(content, seedAt, middleAt);
        byte[] publicKey = Arrays.copyOfRange(content, publicAt, content.length);
        try {
            if (!Arrays.equals(publicKey, publicKeyOf(seed))) {
                throw corrupt(file, null);
            }
            PrivateKey key = KeyFactory.getInstance(Signatures.ALGORITHM, Signatures.PROVIDER)
                    .generatePrivate(new PKCS8EncodedKeySpec(join(V1_HEAD, seed)));
            return new SigningKey(key, Octets.of(publicKey));
        } catch (GeneralSecurityException e) {
            throw corrupt(file, e);
        }
    }

    /** The generator of the runtime takes its seed from the given source, and so tells the public key of a seed. */
    private static byte[] publicKeyOf(byte[] seed) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(Signatures.ALGORITHM, Signatures.PROVIDER);
        generator.initialize(NamedParameterSpec.ED25519, new FixedBytes(seed));
        byte[] x509 = generator.generateKeyPair().getPublic().getEncoded();
        return Arrays.copyOfRange(x509, x509.length - LENGTH, x509.length);
    }

    private static boolean starts(byte[] content, byte[] head) {
        return content.length >= head.length && Arrays.equals(content, 0, head.length, head, 0, head.length);
    }

    private static byte[] join(byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        byte[] joined = new byte[length];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, joined, at, part.length);
            at += part.length;
        }
        return joined;
    }

    private static RelayException corrupt(Path file, Exception cause) {
        return new RelayException(
                FailureKind.STATE,
                file + " does not hold an Ed25519 key; restore it, or move it away to get a new identity",
                cause);
    }

    private static final class FixedBytes extends SecureRandom {
        private static final long serialVersionUID = 1L;

        private final byte[] bytes;

        private FixedBytes(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public void nextBytes(byte[] target) {
            System.arraycopy(bytes, 0, target, 0, target.length);
        }
    }
}
