package org.nemorelay.daemon.internal;

import java.security.PrivateKey;
import java.security.interfaces.EdECPrivateKey;
import org.bouncycastle.math.ec.rfc8032.Ed25519;
import org.nemorelay.protocol.control.Octets;
import org.nemorelay.protocol.control.SignatureScheme;
import org.nemorelay.protocol.control.Signatures;
import org.nemorelay.protocol.control.SigningKey;

/**
 * Ed25519 by Bouncy Castle, several times as fast as the JDK's: signatures are most of what a registration costs a daemon.
 *
 * <p>It takes nothing that the JDK would refuse. Bouncy Castle checks the equation with multiples in which a point of small
 * order may vanish; so keys and commitments with such a part, which no honest signer makes, are refused beforehand.
 */
final class FastSignatures implements SignatureScheme {
    /** Makes a first signature and checks it: what that loads and computes would keep the first session waiting. */
    boolean works(SigningKey key) {
        byte[] message = {};
        return verify(key.publicKey(), message, key.by(this).sign(message));
    }

    @Override
    public Octets sign(PrivateKey key, Octets publicKey, byte[] message) {
        byte[] seed = ((EdECPrivateKey) key).getBytes().orElseThrow();
        byte[] signature = new byte[Ed25519.SIGNATURE_SIZE];
        Ed25519.sign(seed, 0, publicKey.bytes(), 0, message, 0, message.length, signature, 0);
        return Octets.of(signature);
    }

    @Override
    public boolean verify(Octets publicKey, byte[] message, Octets signature) {
        if (publicKey.length() != Signatures.PUBLIC_KEY_LENGTH || signature.length() != Signatures.SIGNATURE_LENGTH) {
            return false;
        }
        byte[] commitmentFirst = signature.bytes();
        Ed25519.PublicPoint point = Ed25519.validatePublicKeyFullExport(publicKey.bytes(), 0);
        return point != null
                && Ed25519.validatePublicKeyFull(commitmentFirst, 0)
                && Ed25519.verify(commitmentFirst, 0, point, message, 0, message.length);
    }
}
