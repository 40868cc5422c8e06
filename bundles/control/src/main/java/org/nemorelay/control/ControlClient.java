package org.nemorelay.control;

import java.util.Optional;
import java.util.OptionalInt;
import org.nemorelay.control.internal.WebSocket;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.identity.Pins;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.TokenDigest;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Proof;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.SignedTranscript;
import org.nemorelay.protocol.control.SigningKey;
import org.nemorelay.protocol.control.Transcript;
import org.nemorelay.protocol.control.WorkerNetwork;

/**
 * Begins sessions with one daemon: connect, challenge, verify, pin, sign, register, verify (relay-daemon 3.7). A
 * registration ends at its deadline ({@link System#nanoTime()}) and is never repeated here: see {@link RetryPolicy}. The daemon's key is checked against
 * the pin before a secret leaves this process. Safe for any thread.
 *
 * <p>Failures are {@link RelayException}s: {@code CREDENTIAL_REJECTED}, {@code UNAUTHORIZED}, {@code INCOMPATIBLE},
 * {@code NOT_FOUND}, {@code CONFLICT}, {@code LIMIT_REACHED} as the daemon refuses; {@code UNAVAILABLE} and
 * {@code TIMEOUT} when it is not there; {@code CONFIGURATION} and {@code STATE} when the pin stands against it.
 */
public final class ControlClient {
    private static final int NONCE_LENGTH = 32;

    private final DaemonUrl daemon;
    private final Role role;
    private final String instanceId;
    private final SigningKey identity;
    private final Pins pins;
    private final Ids ids;
    private final ClientTls tls;

    /**
     * @param instanceId the session id of an MCP process, the worker id of a worker: one for its whole life
     * @param tls for a daemon that is reached by https
     */
    public ControlClient(
            DaemonUrl daemon, Role role, String instanceId, SigningKey identity, Pins pins, Ids ids, ClientTls tls) {
        this.daemon = daemon;
        this.role = role;
        this.instanceId = instanceId;
        this.identity = identity;
        this.pins = pins;
        this.ids = ids;
        this.tls = tls;
    }

    public String instanceId() {
        return instanceId;
    }

    /** Registers this MCP process; the same instance id comes back into its live session. */
    public McpRegistration registerMcp(
            RouteToken credential, NetworkHint hint, ControlListener listener, long deadlineNanos) {
        Handshake handshake = handshake(ControlPaths.MCP, Optional.of(credential.digest()), listener, deadlineNanos);
        try {
            WorkerNetwork network =
                    WorkerNetwork.sign(hint.advertisedHost(), hint.port(), identity, handshake.transcript);
            ReplyBody reply = handshake.register(new ClientCommand.RegisterMcp(
                    handshake.proof(identity, role), network, new Secret(credential.text())));
            if (!(reply instanceof ReplyBody.McpRegistered registered)) {
                throw unexpected();
            }
            handshake.confirm(registered.daemonProof(), registered.sessionToken());
            return new McpRegistration(handshake.session, registered.directive());
        } catch (RelayException e) {
            handshake.session.close();
            throw e;
        }
    }

    /** Registers a launched worker that listens at {@code endpoint}; the root certificate is base64url DER. */
    public WorkerRegistration registerWorker(
            String endpoint,
            LaunchGrant grant,
            Optional<String> tlsRootCertificate,
            ControlListener listener,
            long deadlineNanos) {
        Handshake handshake = handshake(ControlPaths.WORKER, Optional.empty(), listener, deadlineNanos);
        return worker(
                handshake,
                new ClientCommand.RegisterWorker(
                        handshake.proof(identity, role),
                        instanceId,
                        endpoint,
                        grant.activationId(),
                        new Secret(grant.activationToken()),
                        tlsRootCertificate));
    }

    /** Brings a worker back after a lost connection or a restart of the daemon. */
    public WorkerRegistration recoverWorker(
            String endpoint,
            Optional<String> tlsRootCertificate,
            GenerationGrant generationGrant,
            ControlListener listener,
            long deadlineNanos) {
        Handshake handshake = handshake(ControlPaths.WORKER, Optional.empty(), listener, deadlineNanos);
        return worker(
                handshake,
                new ClientCommand.RecoverWorker(
                        handshake.proof(identity, role), instanceId, endpoint, tlsRootCertificate, generationGrant));
    }

    private WorkerRegistration worker(Handshake handshake, ClientCommand registration) {
        try {
            if (!(handshake.register(registration) instanceof ReplyBody.WorkerRegistered registered)) {
                throw unexpected();
            }
            handshake.confirm(registered.daemonProof(), registered.sessionToken());
            if (!registered.generationGrant().intact(handshake.transcript.responderPublicIdentity())) {
                throw new RelayException(
                        FailureKind.UNAUTHORIZED, "the daemon's signature over the worker generation is not valid");
            }
            return new WorkerRegistration(handshake.session, registered.dataToken(), registered.generationGrant());
        } catch (RelayException e) {
            handshake.session.close();
            throw e;
        }
    }

    private Handshake handshake(
            String path, Optional<TokenDigest> tokenDigest, ControlListener listener, long deadline) {
        ControlSession session =
                new ControlSession(WebSocket.open(daemon, path, ids, tls, deadline), ids, instanceId, listener);
        session.start();
        try {
            ClientCommand.Challenge challenge = new ClientCommand.Challenge(
                    Descriptor.ours(role),
                    instanceId,
                    identity.publicKey(),
                    identity.fingerprint(),
                    ids.octets(NONCE_LENGTH));
            if (!(session.command(challenge, remaining(deadline)) instanceof ReplyBody.ChallengeIssued issued)) {
                throw unexpected();
            }
            Optional<String> problem = issued.problem(challenge);
            if (problem.isPresent()) {
                throw new RelayException(FailureKind.UNAUTHORIZED, problem.get());
            }
            pins.check(daemon, issued.daemonPublicIdentity());
            OptionalInt protocol = challenge
                    .initiator()
                    .protocol()
                    .highestCommon(issued.daemon().protocol());
            if (protocol.isEmpty()) {
                throw new RelayException(
                        FailureKind.INCOMPATIBLE,
                        "the daemon speaks no version of the control protocol that this build speaks");
            }
            Transcript transcript = Transcript.of(daemon.origin(), challenge, issued, protocol.getAsInt(), tokenDigest);
            return new Handshake(session, issued.daemon(), transcript, deadline);
        } catch (RelayException e) {
            session.close();
            throw e;
        }
    }

    private static long remaining(long deadlineNanos) {
        return Math.max(1, (deadlineNanos - System.nanoTime()) / 1_000_000);
    }

    private static RelayException unexpected() {
        return new RelayException(FailureKind.UNAVAILABLE, "the daemon's reply does not belong to the command");
    }

    /** A connection on which the daemon has proved who it is. */
    private record Handshake(ControlSession session, Descriptor daemon, Transcript transcript, long deadline) {
        private SignedTranscript proof(SigningKey key, Role role) {
            return new SignedTranscript(transcript, Proof.of(role, key, transcript));
        }

        private ReplyBody register(ClientCommand command) {
            return session.command(command, remaining(deadline));
        }

        /** The key that proves this is the one that was checked against the pin, within this attempt. */
        private void confirm(Proof proof, Secret sessionToken) {
            if (!proof.proves(Role.DAEMON, transcript.responderPublicIdentity(), transcript)) {
                throw new RelayException(
                        FailureKind.UNAUTHORIZED, "the daemon's signature over the handshake is not valid");
            }
            session.authenticated(daemon, sessionToken);
        }
    }
}
