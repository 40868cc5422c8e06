package org.nemorelay.protocol.control;

/** One side's signature over a transcript. */
public record Proof(Role signer, Octets signature) {
    public static Proof of(Role signer, SigningKey key, Transcript transcript) {
        return new Proof(signer, key.sign(transcript.signedBytes()));
    }

    /** Whether {@code signer} signed this transcript with that key. */
    public boolean proves(Role expected, Octets publicKey, Transcript transcript) {
        return proves(expected, publicKey, transcript, Signatures.JDK);
    }

    /** The same, looked at by that implementation. */
    public boolean proves(Role expected, Octets publicKey, Transcript transcript, SignatureScheme scheme) {
        return signer == expected && scheme.verify(publicKey, transcript.signedBytes(), signature);
    }
}
