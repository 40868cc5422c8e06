package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.control.ActivationFailure;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Proof;
import org.nemorelay.protocol.control.ProtocolRange;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SignedTranscript;
import org.nemorelay.protocol.control.SigningKey;
import org.nemorelay.protocol.control.Transcript;
import org.nemorelay.protocol.control.WorkerNetwork;

/** Edge cases of relay-daemon 11 at the control sockets, by peers that are wrong in one point only. */
class ControlCasesTest extends WithFramePeers {
    private static final int PENDING_MCP = 384;

    private final Ids ids = new Ids();
    private Proof proof;

    private static Descriptor descriptor(Role role, List<String> capabilities) {
        Descriptor ours = Descriptor.ours(role);
        return new Descriptor(ours.service(), role, ours.protocol(), capabilities, ours.binaryVersion());
    }

    private static ClientCommand.Challenge with(ClientCommand.Challenge right, Descriptor descriptor) {
        return new ClientCommand.Challenge(
                descriptor,
                right.initiatorInstanceId(),
                right.initiatorPublicIdentity(),
                right.initiatorFingerprint(),
                right.initiatorNonce());
    }

    @Test
    void case58MissingOneRequiredCapabilityIs426() throws IOException {
        FramePeer peer = mcp();
        List<String> all = Descriptor.ours(Role.MCP).capabilities();
        for (String required : List.of("http1", "http2", "sse_passthrough", "streaming_body_frames", "trailers")) {
            List<String> without =
                    all.stream().filter(name -> !name.equals(required)).toList();
            assertEquals(426, peer.status(with(peer.newChallenge(), descriptor(Role.MCP, without))), required);
        }
        assertEquals(200, peer.status(peer.newChallenge()), "a refused challenge may be asked for again");
    }

    /** How many may be pending at once is in {@link HandshakeRulesTest}, which has no 5 s for it. */
    @Test
    void case59PendingChallengesAreBoundedAndFreedWithTheirSockets() throws IOException {
        for (int i = 0; i < PENDING_MCP + 20; i++) {
            try (FramePeer peer = FramePeer.mcp(daemon)) {
                assertEquals(200, peer.status(peer.newChallenge()), "a place of those whose sockets are closed");
            }
        }
    }

    @Test
    void case60LiveSessionKeepsItsSecretAndAReleasedOneGetsAnother() throws IOException {
        FramePeer first = mcp().registered();
        FramePeer again = mcp(first.key);
        again.id = first.id;
        again.token = first.token;
        again.registered();
        assertEquals(first.session, again.session);
        assertEquals(RawControl.Event.Kind.CLOSED, first.socket.reply(5_000).kind(), "the older socket is replaced");
        assertEquals(204, again.status(again.session(new SessionPayload.Release())));
        FramePeer later = mcp(first.key);
        later.id = first.id;
        later.token = first.token;
        later.registered();
        assertNotEquals(first.session, later.session);
    }

    @Test
    void case66IncompatibleIs426AndAForgedInitiatorIs401() throws IOException {
        FramePeer peer = mcp();
        ClientCommand.Challenge right = peer.newChallenge();
        Descriptor ours = right.initiator();
        Descriptor later = new Descriptor(
                ours.service(), ours.role(), new ProtocolRange(2, 2), ours.capabilities(), ours.binaryVersion());
        assertEquals(426, peer.status(with(right, later)), "no version in common");
        assertEquals(401, peer.status(with(right, descriptor(Role.DAEMON, ours.capabilities()))), "the daemon's role");
        assertEquals(
                401, peer.status(with(right, descriptor(Role.WORKER, ours.capabilities()))), "another path's role");
        assertEquals(
                401,
                peer.status(new ClientCommand.Challenge(
                        ours,
                        right.initiatorInstanceId(),
                        right.initiatorPublicIdentity(),
                        FramePeer.newKey().fingerprint(),
                        right.initiatorNonce())),
                "a fingerprint of another key");
    }

    @Test
    void case67UnknownSessionIs401AndALongActivationId400BeforeThat() throws IOException {
        FramePeer peer = mcp();
        FramePeer other = worker(FramePeer.newKey());
        assertEquals(401, peer.status(peer.session(new SessionPayload.Release())));
        assertEquals(401, other.status(other.session(new SessionPayload.Ready(other.id))));
        String longId = "a".repeat(129);
        assertEquals(400, peer.status(peer.session(new SessionPayload.CancelActivation(longId))));
        assertEquals(
                400, peer.status(peer.session(new SessionPayload.ActivationFailed(longId, ActivationFailure.UNKNOWN))));
        other.challenged();
        LaunchGrant grant = new LaunchGrant(longId, "t", LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.empty());
        assertEquals(400, other.status(other.registerWorker(data.url(), grant)));
    }

    @Test
    void case68ReadyOfAnotherWorkerIs401BeforeTheSequence() throws IOException {
        FramePeer session = mcp().registered();
        FramePeer worker = staged(session);
        assertEquals(401, worker.status(worker.session(new SessionPayload.Ready("another"), 7)));
        assertEquals(204, worker.status(worker.session(new SessionPayload.Ready(worker.id), 1)));
    }

    @Test
    void case69And77WhatAFailedProbeAnswersAndLeaves() throws IOException {
        FramePeer session = mcp().registered();
        FramePeer worker = staged(session);
        assertEquals(204, worker.status(worker.session(new SessionPayload.Ready(worker.id))));
        GenerationGrant grant = worker.generation.orElseThrow();
        worker.close();
        FramePeer again = worker(worker.key);
        again.id = worker.id;
        again.challenged();
        again.session = ((ReplyBody.WorkerRegistered) again.ask(new ClientCommand.RecoverWorker(
                                again.proof(), again.id, data.url(), Optional.empty(), grant))
                        .body())
                .sessionToken();
        data.readyStatus = 200;
        assertEquals(502, again.status(again.session(new SessionPayload.Ready(again.id), 1)));
        data.readyStatus = 204;
        assertEquals(204, again.status(again.session(new SessionPayload.Ready(again.id), 2)), "the session is kept");

        data.readyStatus = 200;
        FramePeer other = mcp().registered();
        FramePeer never = staged(other);
        assertEquals(502, never.status(never.session(new SessionPayload.Ready(never.id))));
        assertEquals(RawControl.Event.Kind.CLOSED, never.socket.reply(10_000).kind(), "it was never published");
    }

    @Test
    void case70WhatARegistrationAnswersThatTheGrantDoesNotCover() throws IOException {
        FramePeer session = mcp().registered();
        LaunchGrant grant = session.launch.orElseThrow();
        LaunchGrant unknown = new LaunchGrant(
                "unknown", grant.activationToken(), LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.empty());
        LaunchGrant guessed = new LaunchGrant(
                grant.activationId(), "guessed", LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.empty());
        for (LaunchGrant wrong : List.of(unknown, guessed)) {
            FramePeer worker = worker(session.key).challenged();
            assertEquals(401, worker.status(worker.registerWorker(data.url(), wrong)), wrong.activationId());
        }
        FramePeer right = worker(session.key).registered(data.url(), grant);
        FramePeer thief = worker(session.key).challenged();
        assertEquals(401, thief.status(thief.registerWorker(data.url(), grant)), "another worker");
        FramePeer replay = worker(session.key);
        replay.id = right.id;
        replay.registered(data.url(), grant);
        assertEquals(right.session, replay.session, "the same worker again");

        FramePeer other = mcp().registered();
        FramePeer taken = worker(other.key);
        taken.id = right.id;
        taken.challenged();
        assertEquals(
                429,
                taken.status(taken.registerWorker(data.url(), other.launch.orElseThrow())),
                "case 74: an id in use");
        FramePeer elsewhere = worker(other.key).challenged();
        assertEquals(400, elsewhere.status(elsewhere.registerWorker("http://127.0.0.2:1", other.launch.orElseThrow())));
    }

    @Test
    void case71RecoveryGrantThatIsForeignOrNotTheDurableOneIs401() throws IOException {
        FramePeer session = mcp().registered();
        FramePeer worker = staged(session);
        assertEquals(204, worker.status(worker.session(new SessionPayload.Ready(worker.id))));
        GenerationGrant right = worker.generation.orElseThrow();
        worker.close();
        TestDaemon.await(
                "the daemon has noticed",
                () -> daemon.events.stream().anyMatch(event -> event.startsWith("worker_control_disconnected")));
        GenerationGrant foreign = GenerationGrant.sign(
                FramePeer.newKey(),
                right.generationId(),
                worker.id,
                session.key.fingerprint(),
                data.url(),
                Optional.empty());
        assertEquals(401, recovery(worker, foreign), "signed by another key");
        FramePeer other = mcp().registered();
        FramePeer staged = staged(other);
        assertEquals(401, recovery(staged, staged.generation.orElseThrow()), "valid, but never published");
        assertEquals(200, recovery(worker, right));
    }

    private int recovery(FramePeer worker, GenerationGrant grant) throws IOException {
        FramePeer again = worker(worker.key);
        again.id = worker.id;
        again.challenged();
        return again.status(
                new ClientCommand.RecoverWorker(again.proof(), again.id, data.url(), Optional.empty(), grant));
    }

    @Test
    void case72RegistrationWithoutItsCredentialOrWithAnAlteredHintIs401() throws IOException {
        FramePeer peer = mcp().challenged();
        ClientCommand.RegisterMcp right = peer.registerMcp();
        assertEquals(
                401,
                peer.status(new ClientCommand.RegisterMcp(right.proof(), right.workerNetwork(), ids.secret())),
                "another credential than the proof covers");
        FramePeer none = mcp().challenged();
        ClientCommand.RegisterMcp valid = none.registerMcp();
        assertEquals(
                401,
                none.status(new ClientCommand.RegisterMcp(valid.proof(), valid.workerNetwork(), new Secret("none"))));
        FramePeer digest = mcp().challenged();
        digest.transcript =
                Transcript.of(digest.transcript.daemonTarget(), digest.challenge, issued(digest), 1, Optional.empty());
        assertEquals(401, digest.status(digest.registerMcp()), "a transcript without the digest");
        FramePeer hint = mcp().challenged();
        ClientCommand.RegisterMcp honest = hint.registerMcp();
        WorkerNetwork other =
                WorkerNetwork.sign("127.0.0.1", OptionalInt.of(4_711), FramePeer.newKey(), hint.transcript);
        assertEquals(
                401, hint.status(new ClientCommand.RegisterMcp(honest.proof(), other, honest.credential())), "a hint");
        assertTrue(daemon.events.stream().noneMatch(event -> event.startsWith("mcp_added")));
    }

    /** The challenge that the daemon issued, from what the peer made of it. */
    private static ReplyBody.ChallengeIssued issued(FramePeer peer) {
        Transcript known = peer.transcript;
        return new ReplyBody.ChallengeIssued(
                known.responder(),
                known.responderInstanceId(),
                known.responderPublicIdentity(),
                known.responderFingerprint(),
                known.challengeId(),
                known.responderNonce(),
                0,
                0,
                known.responderNonce());
    }

    @Test
    void case79AlteredTranscriptsAre401AndUseTheChallengeUp() throws IOException {
        List<UnaryOperator<FramePeer>> alterations = List.of(
                peer -> altered(peer, "http://127.0.0.1:1", peer.id, Role.MCP, peer.key),
                peer -> altered(peer, daemon.url().origin(), "another", Role.MCP, peer.key),
                peer -> altered(peer, daemon.url().origin(), peer.id, Role.WORKER, peer.key),
                peer -> altered(peer, daemon.url().origin(), peer.id, Role.MCP, FramePeer.newKey()));
        FramePeer impostor = mcp().challenged();
        ReplyBody.ChallengeIssued real = issued(impostor);
        impostor.transcript = Transcript.of(
                daemon.url().origin(),
                impostor.challenge,
                new ReplyBody.ChallengeIssued(
                        real.daemon(),
                        real.daemonInstanceId(),
                        real.daemonPublicIdentity(),
                        FramePeer.newKey().fingerprint(),
                        real.challengeId(),
                        real.challengeNonce(),
                        0,
                        0,
                        real.challengeNonce()),
                1,
                Optional.of(impostor.token.digest()));
        assertEquals(401, impostor.status(impostor.registerMcp()), "the responder's fingerprint");
        for (UnaryOperator<FramePeer> alteration : alterations) {
            FramePeer peer = mcp().challenged();
            ClientCommand.RegisterMcp right = peer.registerMcp();
            alteration.apply(peer);
            ClientCommand.RegisterMcp wrong = new ClientCommand.RegisterMcp(
                    new SignedTranscript(peer.transcript, proof), right.workerNetwork(), right.credential());
            assertEquals(401, peer.status(wrong));
            assertEquals(401, peer.status(right), "the challenge was used up");
        }
    }

    /** Signs a transcript that is wrong in one point. */
    private FramePeer altered(FramePeer peer, String target, String instance, Role signer, SigningKey key) {
        ClientCommand.Challenge challenge = new ClientCommand.Challenge(
                peer.challenge.initiator(),
                instance,
                peer.challenge.initiatorPublicIdentity(),
                peer.challenge.initiatorFingerprint(),
                peer.challenge.initiatorNonce());
        peer.transcript = Transcript.of(target, challenge, issued(peer), 1, Optional.of(peer.token.digest()));
        proof = Proof.of(signer, key, peer.transcript);
        return peer;
    }

    @Test
    void case94SlowProbeOfOneWorkerHoldsUpNobody() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        FramePeer session = mcp().registered();
        try (FakeServer slow = new FakeServer("slow")) {
            slow.ready = () -> answer.await(10, TimeUnit.SECONDS);
            FramePeer worker = worker(session.key).registered(slow.url(), session.launch.orElseThrow());
            worker.socket.send(FramePeer.encode(worker.session(new SessionPayload.Ready(worker.id))));
            TestDaemon.await("the probe is under way", () -> slow.seen.size() == 1);
            FramePeer other = mcp().registered();
            FramePeer quick = staged(other);
            assertEquals(204, quick.status(quick.session(new SessionPayload.Ready(quick.id))));
            answer.countDown();
        }
    }

    @Test
    void case78LaunchThatIsCancelledDuringTheProbeIsNotPublished() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        data.ready = () -> answer.await(10, TimeUnit.SECONDS);
        FramePeer session = mcp().registered();
        FramePeer worker = staged(session);
        worker.socket.send(FramePeer.encode(worker.session(new SessionPayload.Ready(worker.id))));
        TestDaemon.await("the probe is under way", () -> data.seen.size() == 1);
        assertEquals(
                200,
                session.status(session.session(new SessionPayload.CancelActivation(
                        session.launch.orElseThrow().activationId()))));
        answer.countDown();
        assertEquals(RawControl.Event.Kind.CLOSED, worker.socket.reply(10_000).kind());
        assertFalse(
                daemon.events.stream().anyMatch(event -> event.startsWith("worker_added")), daemon.events::toString);
        assertTrue(RawHttp.once(daemon.port(), RawHttp.get("/_nemo_relay/v1/workers"))
                .body()
                .contains("\"workers\":[]"));
    }

    @Test
    void case37WorkerStatusTellsNoTokenSecretOrAddress() throws IOException {
        FramePeer session = mcp().registered();
        FramePeer worker = staged(session);
        assertEquals(204, worker.status(worker.session(new SessionPayload.Ready(worker.id))));
        for (String path : List.of(
                "/_nemo_relay/v1/workers",
                "/_nemo_relay/v1/workers/status",
                "/_nemo_relay/v1/workers/" + worker.id + "/status")) {
            RawHttp.Answer answer = RawHttp.once(daemon.port(), RawHttp.get(path));
            assertEquals(200, answer.status());
            assertTrue(answer.body().contains(worker.id), answer::body);
            for (String secret : List.of(
                    session.token.text(), session.session.text(), worker.session.text(), "127.0.0.1", "http:")) {
                assertFalse(answer.body().contains(secret), answer::body);
            }
        }
    }

    @Test
    void case76SessionWithoutASocketIsGivenNoLaunch() throws Exception {
        FramePeer gone = mcp().registered();
        gone.close();
        TestDaemon.await(
                "the launch is withdrawn",
                () -> daemon.events.stream().anyMatch(event -> event.startsWith("mcp_control_disconnected")));
        FramePeer second = mcp(gone.key);
        second.token = gone.token;
        second.registered();
        assertTrue(second.launch.isPresent(), "the one with a socket launches, whoever came first");
        assertNotEquals(
                gone.launch.orElseThrow().activationId(),
                second.launch.orElseThrow().activationId());
    }

    @Test
    void case51And55AbortedUploadLeavesTheWorkerRoutable() throws Exception {
        FramePeer session = mcp().registered();
        FramePeer worker = staged(session);
        assertEquals(204, worker.status(worker.session(new SessionPayload.Ready(worker.id))));
        String token = "x-nemo-relay-client-token: " + session.token.text();
        try (RawHttp half = new RawHttp(daemon.port())) {
            half.send(RawHttp.head("POST", "/v1/messages", token) + "content-length: 100\r\n\r\n{");
        }
        RawHttp.Answer next = RawHttp.once(
                daemon.port(), RawHttp.post("/v1/messages", "{}", token, "x-nemo-relay-session-id: s", "x-other: o"));
        assertEquals("worker", next.body());
        assertTrue(RawHttp.once(daemon.port(), RawHttp.get("/_nemo_relay/v1/workers/status"))
                .body()
                .contains("\"control_available\":true"));
        var seen = data.exchanges.getLast().getRequestHeaders();
        assertEquals(null, seen.getFirst("x-nemo-relay-session-id"));
        assertEquals("o", seen.getFirst("x-other"));
    }

    @Test
    void case52HeadTimeoutKeepsTheRouteReady() throws Exception {
        for (boolean strict : List.of(false, true)) {
            daemon.stop();
            daemon.with("response_timeout_secs", 1L)
                    .with("require_worker", strict)
                    .start();
            RawHttp.Answer late;
            try (FakeServer silent = new FakeServer("worker")) {
                FramePeer session = mcp().registered();
                FramePeer worker = worker(session.key).registered(silent.url(), session.launch.orElseThrow());
                assertEquals(204, worker.status(worker.session(new SessionPayload.Ready(worker.id))));
                FakeServer.Answer usual = silent.answer;
                CountDownLatch over = new CountDownLatch(1);
                silent.answer = exchange -> {
                    awaitLatch(over);
                    usual.write(exchange);
                };
                String request =
                        RawHttp.post("/v1/messages", "{}", "x-nemo-relay-client-token: " + session.token.text());
                late = RawHttp.once(daemon.port(), request);
                over.countDown();
                assertEquals(504, late.status());
                silent.answer = usual;
                assertEquals("worker", RawHttp.once(daemon.port(), request).body());
            }
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void case54OperationIdsReachTheWorkerOnHooksOnly() throws Exception {
        FramePeer session = mcp().registered();
        FramePeer worker = staged(session);
        assertEquals(204, worker.status(worker.session(new SessionPayload.Ready(worker.id))));
        String token = "x-nemo-relay-client-token: " + session.token.text();
        String valid = "01a22982-770b-7981-9620-04096e0f32c9";
        for (String[] row : List.of(
                new String[] {"/hooks/codex", valid, valid},
                new String[] {"/hooks/codex", "no-uuid", null},
                new String[] {"/v1/messages", valid, null})) {
            RawHttp.once(daemon.port(), RawHttp.post(row[0], "{}", token, "x-nemo-relay-operation-id: " + row[1]));
            assertEquals(
                    row[2],
                    data.exchanges.getLast().getRequestHeaders().getFirst("x-nemo-relay-operation-id"),
                    row[0] + " " + row[1]);
        }
    }

    @Test
    void case83GlobalPassThroughLendsItsCredentialToEverybody() throws Exception {
        daemon.stop();
        daemon.environment.put("ANTHROPIC_API_KEY", "sk-daemon");
        daemon.with("anthropic_base_url", data.url()).with("pass_through", true).start();
        assertEquals(
                "worker",
                RawHttp.once(daemon.port(), RawHttp.post("/v1/messages", "{}")).body());
        assertEquals("sk-daemon", data.exchanges.getLast().getRequestHeaders().getFirst("x-api-key"));
        assertEquals(
                Directive.UsePassThrough.class, daemon.user("ann").mcp().first.getClass());
        assertTrue(
                RawHttp.once(daemon.port(), RawHttp.get("/healthz"))
                        .body()
                        .contains("\"deployment_mode\":\"pass_through\""),
                "case 36");
    }
}
