package org.nemorelay.protocol.control;

import java.util.Optional;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.Fingerprint;

/**
 * A daemon's signed statement that one worker generation serves one user: the right to come back after a lost
 * connection or a daemon restart (relay-daemon 3.2, 5.8).
 *
 * @param fingerprint of the worker's machine identity
 * @param tlsRootDigest SHA-256 over the base64url text of the worker's root certificate, where it has one
 */
public record GenerationGrant(
        String generationId,
        String workerId,
        Fingerprint fingerprint,
        String endpoint,
        Optional<Digest> tlsRootDigest,
        Octets signature) {

    private static final String DOMAIN = "nemo-relay/worker-generation/v1";

    public static GenerationGrant sign(
            SigningKey daemon,
            String generationId,
            String workerId,
            Fingerprint fingerprint,
            String endpoint,
            Optional<Digest> tlsRootDigest) {
        GenerationGrant unsigned = new GenerationGrant(
                generationId, workerId, fingerprint, endpoint, tlsRootDigest, Octets.of(new byte[0]));
        return new GenerationGrant(
                generationId, workerId, fingerprint, endpoint, tlsRootDigest, daemon.sign(unsigned.signedBytes()));
    }

    /** Whether the daemon with this key signed the grant. */
    public boolean intact(Octets daemonPublicKey) {
        return intact(daemonPublicKey, Signatures.JDK);
    }

    /** The same, looked at by that implementation. */
    public boolean intact(Octets daemonPublicKey, SignatureScheme scheme) {
        return scheme.verify(daemonPublicKey, signedBytes(), signature);
    }

    byte[] signedBytes() {
        return new SignedBytes(DOMAIN, 6)
                .field("generation_id", generationId)
                .field("worker_id", workerId)
                .field("fingerprint", fingerprint.digest().bytes())
                .field("endpoint", endpoint)
                .flag("tls_root_present", tlsRootDigest.isPresent())
                .field(
                        "tls_root_digest",
                        tlsRootDigest.isPresent() ? tlsRootDigest.get().bytes() : new byte[0])
                .bytes();
    }
}
