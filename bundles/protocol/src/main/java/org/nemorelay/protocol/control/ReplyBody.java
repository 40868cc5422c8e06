package org.nemorelay.protocol.control;

import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.Fingerprint;

/** The payload of a reply, by its shape (relay-daemon 3.6). */
public sealed interface ReplyBody {
    /** Status 204 and every success without content. */
    record Empty() implements ReplyBody {}

    /** The daemon's answer to a challenge, signed over the request and itself. Times are unsigned Unix milliseconds. */
    record ChallengeIssued(
            Descriptor daemon,
            String daemonInstanceId,
            Octets daemonPublicIdentity,
            Fingerprint daemonFingerprint,
            Octets challengeId,
            Octets challengeNonce,
            long issuedAtUnixMs,
            long expiresAtUnixMs,
            Octets daemonChallengeProof)
            implements ReplyBody {

        private static final String DOMAIN = "nemo-relay/daemon-challenge/v1";

        /** The answer with the daemon's signature. */
        public static ChallengeIssued sign(
                SigningKey key,
                Descriptor daemon,
                String daemonInstanceId,
                Octets challengeId,
                Octets challengeNonce,
                long issuedAtUnixMs,
                long expiresAtUnixMs,
                ClientCommand.Challenge request) {
            ChallengeIssued unsigned = new ChallengeIssued(
                    daemon,
                    daemonInstanceId,
                    key.publicKey(),
                    key.fingerprint(),
                    challengeId,
                    challengeNonce,
                    issuedAtUnixMs,
                    expiresAtUnixMs,
                    Octets.of(new byte[0]));
            return new ChallengeIssued(
                    daemon,
                    daemonInstanceId,
                    key.publicKey(),
                    key.fingerprint(),
                    challengeId,
                    challengeNonce,
                    issuedAtUnixMs,
                    expiresAtUnixMs,
                    key.sign(unsigned.signedBytes(request)));
        }

        /** Why the answer to this request is not to be believed, or nothing: role, key, and signature. The pin comes after. */
        public Optional<String> problem(ClientCommand.Challenge request) {
            Optional<String> invalid = daemon.problem();
            if (invalid.isPresent()) {
                return invalid;
            }
            if (daemon.role() != Role.DAEMON) {
                return Optional.of("the peer that answers is not a daemon");
            }
            if (daemonInstanceId.isEmpty()) {
                return Optional.of("the daemon has no instance id");
            }
            if (!Fingerprint.ofPublicKey(daemonPublicIdentity.bytes()).equals(daemonFingerprint)) {
                return Optional.of("the daemon's fingerprint does not belong to its key");
            }
            if (!Signatures.verify(daemonPublicIdentity, signedBytes(request), daemonChallengeProof)) {
                return Optional.of("the daemon's signature over the challenge is not valid");
            }
            return Optional.empty();
        }

        /** The bytes that the daemon signs. */
        byte[] signedBytes(ClientCommand.Challenge request) {
            return new SignedBytes(DOMAIN, 13)
                    .field("initiator", Json.write(request.initiator().json()))
                    .field("initiator_instance_id", request.initiatorInstanceId())
                    .field(
                            "initiator_public_identity",
                            request.initiatorPublicIdentity().bytes())
                    .field(
                            "initiator_fingerprint",
                            request.initiatorFingerprint().digest().bytes())
                    .field("initiator_nonce", request.initiatorNonce().bytes())
                    .field("daemon", Json.write(daemon.json()))
                    .field("daemon_instance_id", daemonInstanceId)
                    .field("daemon_public_identity", daemonPublicIdentity.bytes())
                    .field("daemon_fingerprint", daemonFingerprint.digest().bytes())
                    .field("challenge_id", challengeId.bytes())
                    .field("challenge_nonce", challengeNonce.bytes())
                    .u64("issued_at_unix_ms", issuedAtUnixMs)
                    .u64("expires_at_unix_ms", expiresAtUnixMs)
                    .bytes();
        }
    }

    /** An MCP session has begun. */
    record McpRegistered(Proof daemonProof, Secret sessionToken, Directive directive) implements ReplyBody {}

    /** A worker is known to the daemon; it serves after {@code ready}. */
    record WorkerRegistered(Proof daemonProof, Secret sessionToken, Secret dataToken, GenerationGrant generationGrant)
            implements ReplyBody {}

    /** The answer to {@code cancel_activation}. */
    record ActivationCancelled(CancelOutcome outcome) implements ReplyBody {}

    /** A refusal; {@code code} is {@link #CREDENTIAL_REJECTED} or absent. */
    record Failure(String message, Optional<String> code) implements ReplyBody {
        /** The code that makes a 401 definitive for this credential. */
        public static final String CREDENTIAL_REJECTED = "route_credential_rejected";
    }
}
