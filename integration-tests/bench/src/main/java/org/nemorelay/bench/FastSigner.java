package org.nemorelay.bench;

import java.security.PrivateKey;
import java.security.interfaces.EdECPrivateKey;
import org.bouncycastle.math.ec.rfc8032.Ed25519;
import org.nemorelay.protocol.control.Octets;
import org.nemorelay.protocol.control.SignatureScheme;

/** Signs for thousands of simulated peers: with the JDK they would take more of the processors than the daemon they measure. */
final class FastSigner implements SignatureScheme {
    @Override
    public Octets sign(PrivateKey key, Octets publicKey, byte[] message) {
        byte[] seed = ((EdECPrivateKey) key).getBytes().orElseThrow();
        byte[] signature = new byte[Ed25519.SIGNATURE_SIZE];
        Ed25519.sign(seed, 0, publicKey.bytes(), 0, message, 0, message.length, signature, 0);
        return Octets.of(signature);
    }

    @Override
    public boolean verify(Octets publicKey, byte[] message, Octets signature) {
        return Ed25519.verify(signature.bytes(), 0, publicKey.bytes(), 0, message, 0, message.length);
    }
}
