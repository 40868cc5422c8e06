package org.nemorelay.daemon.internal;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.TokenDigest;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Proof;
import org.nemorelay.protocol.control.ProtocolRange;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.SignatureScheme;
import org.nemorelay.protocol.control.SignedTranscript;
import org.nemorelay.protocol.control.SigningKey;
import org.nemorelay.protocol.control.Transcript;

/**
 * The daemon's side of challenge and proof (relay-daemon 3.3, 3.7). Signatures are made and checked here, on the threads
 * of the sockets. Safe for any thread.
 */
final class Handshake {
    private static final long CHALLENGE_MS = 15_000;
    private static final int MAX_PENDING_MCP = 384;
    private static final int MAX_PENDING_WORKER = 128;
    private static final int CHALLENGE_ID_LENGTH = 16;
    private static final int NONCE_LENGTH = 32;

    private final SigningKey key;
    private final SignatureScheme signatures;
    private final String instanceId;
    private final Ids ids;
    private final Clock clock;
    private final Descriptor descriptor = Descriptor.ours(Role.DAEMON);
    private final AtomicInteger pendingMcp = new AtomicInteger();
    private final AtomicInteger pendingWorker = new AtomicInteger();

    /** Known once the port is bound; no proof is accepted before. */
    private volatile Optional<DaemonUrl> url = Optional.empty();

    /** A challenge that was issued on one socket and not used yet. */
    record Pending(ClientCommand.Challenge request, ReplyBody.ChallengeIssued issued, long expiresAt) {}

    /** A challenge that was answered, or why not. */
    record Answer(Optional<Pending> pending, Optional<ControlFailure> failure) {}

    Handshake(SigningKey key, SignatureScheme signatures, String instanceId, Ids ids, Clock clock) {
        this.key = key.by(signatures);
        this.signatures = signatures;
        this.instanceId = instanceId;
        this.ids = ids;
        this.clock = clock;
    }

    /** From now on proofs meant for this address are accepted. */
    void serve(DaemonUrl address) {
        url = Optional.of(address);
    }

    /** Answers a challenge on a socket of that role; a pending one must be given back by {@link #forget}. */
    Answer challenge(Role role, ClientCommand.Challenge request) {
        Optional<ControlFailure> failure = problem(role, request);
        if (failure.isPresent()) {
            return new Answer(Optional.empty(), failure);
        }
        AtomicInteger pending = counter(role);
        if (pending.incrementAndGet() > (role == Role.MCP ? MAX_PENDING_MCP : MAX_PENDING_WORKER)) {
            pending.decrementAndGet();
            return refused(FailureKind.LIMIT_REACHED, "too many challenges are pending");
        }
        long issuedAt = clock.unixMs();
        ReplyBody.ChallengeIssued issued = ReplyBody.ChallengeIssued.sign(
                key,
                descriptor,
                instanceId,
                ids.octets(CHALLENGE_ID_LENGTH),
                ids.octets(NONCE_LENGTH),
                issuedAt,
                issuedAt + CHALLENGE_MS,
                request);
        return new Answer(
                Optional.of(new Pending(request, issued, clock.monotonicMs() + CHALLENGE_MS)), Optional.empty());
    }

    /** A pending challenge of that role was used or its socket is gone. */
    void forget(Role role) {
        counter(role).decrementAndGet();
    }

    /** Why this transcript does not prove its initiator under this challenge, or nothing. */
    Optional<ControlFailure> problem(Pending pending, SignedTranscript proof) {
        Transcript transcript = proof.transcript();
        if (!transcript.initiator().missingRequired().isEmpty()) {
            return Optional.of(incompatible());
        }
        if (clock.monotonicMs() >= pending.expiresAt()) {
            return Optional.of(ControlFailure.unauthorized("the challenge has expired"));
        }
        if (!ours(transcript.daemonTarget())) {
            return Optional.of(ControlFailure.unauthorized("the proof is meant for another daemon address"));
        }
        OptionalInt protocol = pending.request().initiator().protocol().highestCommon(ProtocolRange.CURRENT);
        Transcript expected = Transcript.of(
                transcript.daemonTarget(),
                pending.request(),
                pending.issued(),
                protocol.orElse(0),
                transcript.routeTokenDigest());
        if (!expected.equals(transcript) || transcript.problem().isPresent()) {
            return Optional.of(ControlFailure.unauthorized("the proof does not belong to the challenge"));
        }
        return proof.intact(signatures)
                ? Optional.empty()
                : Optional.of(ControlFailure.unauthorized("the Ed25519 signature did not verify"));
    }

    /** Why an MCP registration with a valid transcript is refused, or nothing. */
    Optional<ControlFailure> problem(ClientCommand.RegisterMcp request) {
        Transcript transcript = request.proof().transcript();
        Optional<RouteToken> token = RouteToken.parse(request.credential().text());
        if (token.isEmpty()) {
            return Optional.of(ControlFailure.unauthorized("invalid route credential"));
        }
        Optional<TokenDigest> digest = transcript.routeTokenDigest();
        if (digest.filter(token.get().digest()::equals).isEmpty()) {
            return Optional.of(ControlFailure.unauthorized("the proof does not cover the route credential"));
        }
        if (!request.workerNetwork().intact(transcript, signatures)) {
            return Optional.of(ControlFailure.unauthorized("the signature of the worker network did not verify"));
        }
        return request.workerNetwork().problem().map(text -> ControlFailure.of(FailureKind.INVALID_ARGUMENT, text));
    }

    /** Why a grant does not let this worker recover, or nothing. */
    Optional<ControlFailure> problem(ClientCommand.RecoverWorker request) {
        GenerationGrant grant = request.generationGrant();
        Optional<Digest> root = request.tlsRootCertificate().map(Handshake::rootDigest);
        boolean same = grant.workerId().equals(request.workerId())
                && grant.endpoint().equals(request.endpoint())
                && grant.tlsRootDigest().equals(root)
                && grant.fingerprint().equals(request.proof().transcript().initiatorFingerprint());
        return same && grant.intact(key.publicKey(), signatures)
                ? Optional.empty()
                : Optional.of(ControlFailure.unauthorized("the generation grant is not valid for this worker"));
    }

    Proof prove(Transcript transcript) {
        return Proof.of(Role.DAEMON, key, transcript);
    }

    GenerationGrant grant(
            String generationId, String workerId, Fingerprint fingerprint, String endpoint, Optional<String> root) {
        return GenerationGrant.sign(
                key, generationId, workerId, fingerprint, endpoint, root.map(Handshake::rootDigest));
    }

    private Optional<ControlFailure> problem(Role role, ClientCommand.Challenge request) {
        Optional<String> invalid = request.initiator().problem();
        if (invalid.isPresent()) {
            return invalid.map(ControlFailure::unauthorized);
        }
        if (request.initiator().protocol().highestCommon(ProtocolRange.CURRENT).isEmpty()) {
            return Optional.of(ControlFailure.of(
                    FailureKind.INCOMPATIBLE, "component and daemon share no version of the control protocol"));
        }
        if (!request.initiator().missingRequired().isEmpty()) {
            return Optional.of(incompatible());
        }
        if (request.initiator().role() != role) {
            return Optional.of(ControlFailure.unauthorized("this socket is for another role"));
        }
        if (!Fingerprint.ofPublicKey(request.initiatorPublicIdentity().bytes())
                .equals(request.initiatorFingerprint())) {
            return Optional.of(ControlFailure.unauthorized("the fingerprint does not belong to the key"));
        }
        String instance = request.initiatorInstanceId();
        if (instance.isEmpty() || instance.length() > 256) {
            return Optional.of(ControlFailure.unauthorized("the instance id must have 1 to 256 bytes"));
        }
        return Optional.empty();
    }

    private static ControlFailure incompatible() {
        return ControlFailure.of(
                FailureKind.INCOMPATIBLE, "component lacks required lossless streaming and trailer capabilities");
    }

    private static Answer refused(FailureKind kind, String message) {
        return new Answer(Optional.empty(), Optional.of(ControlFailure.of(kind, message)));
    }

    private boolean ours(String target) {
        return url.filter(own -> target.equals(own.origin()) || sameLoopback(own, target))
                .isPresent();
    }

    /** On loopback the address has several spellings that all lead here. */
    private static boolean sameLoopback(DaemonUrl own, String target) {
        try {
            DaemonUrl other = DaemonUrl.parse(target);
            return own.loopback()
                    && other.loopback()
                    && other.secure() == own.secure()
                    && other.port() == own.port()
                    && other.origin().equals(target);
        } catch (RelayException e) {
            return false;
        }
    }

    private static Digest rootDigest(String certificate) {
        return Digest.sha256(certificate.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    private AtomicInteger counter(Role role) {
        return role == Role.MCP ? pendingMcp : pendingWorker;
    }
}
