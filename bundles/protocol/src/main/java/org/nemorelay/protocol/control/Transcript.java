package org.nemorelay.protocol.control;

import java.util.Optional;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.TokenDigest;

/**
 * What initiator and daemon both sign before a session begins (relay-daemon 3.2, 3.3).
 *
 * @param daemonTarget the canonical origin of the daemon ({@code DaemonUrl.origin()})
 * @param routeTokenDigest present for an MCP process, absent for a worker
 */
public record Transcript(
        String daemonTarget,
        Descriptor initiator,
        Descriptor responder,
        String initiatorInstanceId,
        String responderInstanceId,
        int selectedProtocol,
        Octets initiatorPublicIdentity,
        Octets responderPublicIdentity,
        Fingerprint initiatorFingerprint,
        Fingerprint responderFingerprint,
        Octets challengeId,
        Octets initiatorNonce,
        Octets responderNonce,
        Optional<TokenDigest> routeTokenDigest) {

    private static final String DOMAIN = "nemo-relay/daemon-handshake/v1";
    private static final int MAX_TARGET = 2048;
    private static final int MAX_INSTANCE_ID = 256;

    /** The transcript that follows from a challenge and its answer. */
    public static Transcript of(
            String daemonTarget,
            ClientCommand.Challenge request,
            ReplyBody.ChallengeIssued issued,
            int selectedProtocol,
            Optional<TokenDigest> routeTokenDigest) {
        return new Transcript(
                daemonTarget,
                request.initiator(),
                issued.daemon(),
                request.initiatorInstanceId(),
                issued.daemonInstanceId(),
                selectedProtocol,
                request.initiatorPublicIdentity(),
                issued.daemonPublicIdentity(),
                request.initiatorFingerprint(),
                issued.daemonFingerprint(),
                issued.challengeId(),
                request.initiatorNonce(),
                issued.challengeNonce(),
                routeTokenDigest);
    }

    /** Why the transcript cannot begin a session, or nothing. It says nothing about signatures. */
    public Optional<String> problem() {
        Optional<String> descriptor = initiator.problem().or(responder::problem);
        if (descriptor.isPresent()) {
            return descriptor;
        }
        if (!Wire.within(daemonTarget, MAX_TARGET)) {
            return Optional.of("the daemon target must have 1 to " + MAX_TARGET + " bytes");
        }
        if (!Wire.within(initiatorInstanceId, MAX_INSTANCE_ID) || !Wire.within(responderInstanceId, MAX_INSTANCE_ID)) {
            return Optional.of("instance ids must have 1 to " + MAX_INSTANCE_ID + " bytes");
        }
        if (initiator.role() == Role.DAEMON || responder.role() != Role.DAEMON) {
            return Optional.of("a session begins between an MCP process or worker and a daemon");
        }
        if (!Fingerprint.ofPublicKey(initiatorPublicIdentity.bytes()).equals(initiatorFingerprint)
                || !Fingerprint.ofPublicKey(responderPublicIdentity.bytes()).equals(responderFingerprint)) {
            return Optional.of("a fingerprint does not belong to its key");
        }
        if (routeTokenDigest.isPresent() != (initiator.role() == Role.MCP)) {
            return Optional.of("an MCP process names its route token, a worker has none");
        }
        return Optional.empty();
    }

    /** The bytes that both sides sign. */
    public byte[] signedBytes() {
        return new SignedBytes(DOMAIN, 25)
                .field("daemon_target", daemonTarget)
                .field("initiator_service", initiator.service())
                .field("initiator_role", initiator.role().word())
                .u16("initiator_protocol_minimum", initiator.protocol().minimum())
                .u16("initiator_protocol_maximum", initiator.protocol().maximum())
                .capabilities("initiator_capabilities", initiator.capabilities())
                .field("initiator_binary_version", initiator.binaryVersion())
                .field("responder_service", responder.service())
                .field("responder_role", responder.role().word())
                .u16("responder_protocol_minimum", responder.protocol().minimum())
                .u16("responder_protocol_maximum", responder.protocol().maximum())
                .capabilities("responder_capabilities", responder.capabilities())
                .field("responder_binary_version", responder.binaryVersion())
                .field("initiator_instance_id", initiatorInstanceId)
                .field("responder_instance_id", responderInstanceId)
                .u16("selected_protocol", selectedProtocol)
                .field("initiator_public_identity", initiatorPublicIdentity.bytes())
                .field("responder_public_identity", responderPublicIdentity.bytes())
                .field("initiator_fingerprint", initiatorFingerprint.digest().bytes())
                .field("responder_fingerprint", responderFingerprint.digest().bytes())
                .field("challenge_id", challengeId.bytes())
                .field("initiator_nonce", initiatorNonce.bytes())
                .field("responder_nonce", responderNonce.bytes())
                .flag("route_token_present", routeTokenDigest.isPresent())
                .field(
                        "route_token_digest",
                        routeTokenDigest.isPresent()
                                ? routeTokenDigest.get().digest().bytes()
                                : new byte[0])
                .bytes();
    }
}
