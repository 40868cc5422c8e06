package org.nemorelay.protocol.control;

import java.util.Optional;
import org.nemorelay.protocol.Fingerprint;

/** What an MCP process or worker sends (relay-daemon 3.4). */
public sealed interface ClientCommand {
    /** First on every socket: prove who you are. */
    record Challenge(
            Descriptor initiator,
            String initiatorInstanceId,
            Octets initiatorPublicIdentity,
            Fingerprint initiatorFingerprint,
            Octets initiatorNonce)
            implements ClientCommand {}

    /** An MCP session begins; {@code credential} is the route token. */
    record RegisterMcp(SignedTranscript proof, WorkerNetwork workerNetwork, Secret credential)
            implements ClientCommand {}

    /** A launched worker presents its one-time grant; the root certificate is base64url DER. */
    record RegisterWorker(
            SignedTranscript proof,
            String workerId,
            String endpoint,
            String activationId,
            Secret activationToken,
            Optional<String> tlsRootCertificate)
            implements ClientCommand {}

    /** A worker comes back with the generation it was granted. */
    record RecoverWorker(
            SignedTranscript proof,
            String workerId,
            String endpoint,
            Optional<String> tlsRootCertificate,
            GenerationGrant generationGrant)
            implements ClientCommand {}

    /** Anything an authenticated session asks for. */
    record Session(SessionRequest request) implements ClientCommand {}

    /** A directive or drain has arrived. */
    record Acknowledge(String requestId) implements ClientCommand {}
}
