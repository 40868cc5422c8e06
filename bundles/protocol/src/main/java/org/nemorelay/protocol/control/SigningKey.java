package org.nemorelay.protocol.control;

import java.security.PrivateKey;
import org.nemorelay.protocol.Fingerprint;

/** An Ed25519 key pair of this process: what a machine or a daemon is known by. {@link #toString()} shows the fingerprint only. */
public final class SigningKey {
    private final PrivateKey privateKey;
    private final Octets publicKey;
    private final Fingerprint fingerprint;
    private final SignatureScheme scheme;

    /** {@code publicKey} is the raw 32-byte key that belongs to {@code privateKey}. */
    public SigningKey(PrivateKey privateKey, Octets publicKey) {
        this(privateKey, publicKey, Fingerprint.ofPublicKey(publicKey.bytes()), Signatures.JDK);
    }

    private SigningKey(PrivateKey privateKey, Octets publicKey, Fingerprint fingerprint, SignatureScheme scheme) {
        this.privateKey = privateKey;
        this.publicKey = publicKey;
        this.fingerprint = fingerprint;
        this.scheme = scheme;
    }

    /** The same key, whose signatures are made by that implementation. */
    public SigningKey by(SignatureScheme implementation) {
        return new SigningKey(privateKey, publicKey, fingerprint, implementation);
    }

    public Octets publicKey() {
        return publicKey;
    }

    public Fingerprint fingerprint() {
        return fingerprint;
    }

    public Octets sign(byte[] message) {
        return scheme.sign(privateKey, publicKey, message);
    }

    @Override
    public String toString() {
        return "SigningKey[" + fingerprint + "]";
    }
}
