package org.nemorelay.protocol.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.RouteToken;

/** One session of the stock binary: every frame decodes and encodes to the same value, every hash and signature holds. */
class RecordedSessionTest {
    private final JsonObject recording = load();
    private final String origin = recording.string("origin");

    @Test
    void everyFrameSurvivesDecodingAndEncoding() {
        int frames = 0;
        for (JsonObject connection : recording.objects("connections")) {
            for (JsonObject frame : connection.objects("frames")) {
                if (frame.has("text")) {
                    String text = frame.string("text");
                    String again = fromClient(frame)
                            ? FrameCodec.encode(FrameCodec.decodeCommand(text))
                            : FrameCodec.encode(FrameCodec.decodeEvent(text));
                    assertEquals(Json.parse(text), Json.parse(again));
                    frames++;
                }
            }
        }
        assertEquals(32, frames);
    }

    @Test
    void commandsAreWrittenInTheOrderOfTheBinary() {
        for (JsonObject connection : recording.objects("connections")) {
            for (JsonObject frame : connection.objects("frames")) {
                if (frame.has("text") && fromClient(frame)) {
                    String text = frame.string("text");
                    assertEquals(text, FrameCodec.encode(FrameCodec.decodeCommand(text)));
                }
            }
        }
    }

    @Test
    void everySignatureAndHashHolds() {
        RouteToken token = RouteToken.parse(recording.string("client_token")).orElseThrow();
        List<String> verified = new ArrayList<>();
        for (JsonObject connection : recording.objects("connections")) {
            ClientCommand.Challenge challenge = null;
            ReplyBody.ChallengeIssued issued = null;
            Transcript transcript = null;
            for (JsonObject frame : connection.objects("frames")) {
                if (!frame.has("text")) {
                    continue;
                }
                if (fromClient(frame)) {
                    switch (FrameCodec.decodeCommand(frame.string("text")).command()) {
                        case ClientCommand.Challenge sent -> challenge = sent;
                        case ClientCommand.RegisterMcp register -> {
                            transcript = register.proof().transcript();
                            assertRegistration(register.proof(), challenge, issued);
                            assertEquals(Optional.of(token.digest()), transcript.routeTokenDigest());
                            assertEquals(token.text(), register.credential().text());
                            assertTrue(register.workerNetwork().intact(transcript));
                            assertEquals(
                                    Optional.empty(), register.workerNetwork().problem());
                            verified.add("mcp");
                        }
                        case ClientCommand.RegisterWorker register -> {
                            transcript = register.proof().transcript();
                            assertRegistration(register.proof(), challenge, issued);
                            verified.add("worker");
                        }
                        case ClientCommand.Session(SessionRequest request) -> {
                            assertTrue(request.intact());
                            verified.add(request.payload().type());
                        }
                        case ClientCommand.RecoverWorker recover -> throw new AssertionError(recover);
                        case ClientCommand.Acknowledge ignored -> {}
                    }
                } else if (FrameCodec.decodeEvent(frame.string("text")) instanceof ServerEvent.Reply reply) {
                    switch (reply.body()) {
                        case ReplyBody.ChallengeIssued answer -> {
                            issued = answer;
                            assertEquals(Optional.empty(), answer.problem(challenge));
                            verified.add("challenge");
                        }
                        case ReplyBody.McpRegistered registered ->
                            assertTrue(registered
                                    .daemonProof()
                                    .proves(Role.DAEMON, issued.daemonPublicIdentity(), transcript));
                        case ReplyBody.WorkerRegistered registered -> {
                            assertTrue(registered
                                    .daemonProof()
                                    .proves(Role.DAEMON, issued.daemonPublicIdentity(), transcript));
                            assertTrue(registered.generationGrant().intact(issued.daemonPublicIdentity()));
                        }
                        case ReplyBody.ActivationCancelled(CancelOutcome outcome) ->
                            assertEquals(CancelOutcome.PUBLISHED, outcome);
                        case ReplyBody.Failure failure -> throw new AssertionError(failure);
                        case ReplyBody.Empty() -> assertEquals(204, reply.status());
                    }
                }
            }
        }
        assertEquals(
                List.of(
                        "challenge",
                        "mcp",
                        "cancel_activation",
                        "release",
                        "challenge",
                        "worker",
                        "ready",
                        "challenge",
                        "mcp",
                        "release"),
                verified);
    }

    @Test
    void theLaunchDirectiveHasNoDeadline() {
        String text = recording.objects("connections").get(0).objects("frames").stream()
                .filter(frame -> frame.optionalString("text").orElse("").contains("\"type\":\"directive\""))
                .findFirst()
                .orElseThrow()
                .string("text");
        ServerEvent.DirectiveIssued issued =
                assertInstanceOf(ServerEvent.DirectiveIssued.class, FrameCodec.decodeEvent(text));
        org.nemorelay.protocol.Directive.LaunchWorker launch =
                assertInstanceOf(org.nemorelay.protocol.Directive.LaunchWorker.class, issued.directive());
        assertEquals(
                org.nemorelay.protocol.LaunchGrant.NO_DEADLINE, launch.grant().deadlineUnixMs());
        assertTrue(text.contains("18446744073709551615"));
        assertFalse(launch.toString().contains(launch.grant().activationToken()));
    }

    @Test
    void aChangedPayloadBreaksTheHash() {
        SessionRequest request = SessionRequest.of("s", new Secret("t"), "r", 1, new SessionPayload.Ready("worker-1"));
        assertTrue(request.intact());
        assertFalse(new SessionRequest(
                        "s", new Secret("t"), "r", 1, request.payloadSha256(), new SessionPayload.Ready("worker-2"))
                .intact());
        assertFalse(SessionRequest.of("s", new Secret("t"), "", 1, new SessionPayload.Release())
                .intact());
        assertEquals(
                Digest.sha256("{\"activation_id\":\"a\",\"reason\":\"worker_exited_before_ready\"}".getBytes()),
                new SessionPayload.ActivationFailed("a", ActivationFailure.EXITED_BEFORE_READY).sha256());
    }

    private void assertRegistration(
            SignedTranscript proof, ClientCommand.Challenge challenge, ReplyBody.ChallengeIssued issued) {
        Transcript transcript = proof.transcript();
        assertEquals(Transcript.of(origin, challenge, issued, 1, transcript.routeTokenDigest()), transcript);
        assertEquals(Optional.empty(), transcript.problem());
        assertTrue(proof.intact());
        assertEquals(List.of(), transcript.initiator().missingRequired());
    }

    private static boolean fromClient(JsonObject frame) {
        return frame.string("from").equals("client");
    }

    private static JsonObject load() {
        try (InputStream in = RecordedSessionTest.class.getResourceAsStream("/real-session.json")) {
            return Json.parseObject(in.readAllBytes());
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
