package org.nemorelay.protocol.control;

import java.security.PrivateKey;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * An implementation of Ed25519 over raw 32-byte public keys: {@link Signatures#JDK} starts soonest, a process that checks
 * thousands of signatures may bring a faster one. All make the same signatures. Stateless; safe for any thread.
 */
@ConsumerType
public interface SignatureScheme {
    /** Signs with a key whose public part is given. */
    Octets sign(PrivateKey key, Octets publicKey, byte[] message);

    /** Whether the signature is the key's over the message; malformed keys and signatures are simply not valid. */
    boolean verify(Octets publicKey, byte[] message, Octets signature);
}
