package org.nemorelay.protocol.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;

class FrameCodecTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{",
                "[]",
                "5",
                "{}",
                "{\"request_id\":\"a\"}",
                "{\"request_id\":\"a\",\"command\":{\"type\":\"nope\",\"payload\":{}}}",
                "{\"request_id\":\"a\",\"command\":{\"type\":\"acknowledge\",\"payload\":null}}",
                "{\"request_id\":\"\\ud800\",\"command\":{\"type\":\"acknowledge\",\"payload\":{\"request_id\":\"x\"}}}",
                "{\"request_id\":5,\"command\":{\"type\":\"acknowledge\",\"payload\":{\"request_id\":\"x\"}}}",
                "{\"request_id\":\"a\",\"request_id\":\"b\",\"command\":{\"type\":\"acknowledge\",\"payload\":{\"request_id\":\"x\"}}}",
            })
    void whatIsNoFrameIsMalformed(String text) {
        FrameException failure = assertThrows(FrameException.class, () -> FrameCodec.decodeCommand(text));
        assertEquals(FrameException.Reason.MALFORMED, failure.reason());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 129})
    void requestIdsHaveALimit(int length) {
        String text = FrameCodec.encode(new CommandFrame("i".repeat(length), new ClientCommand.Acknowledge("x")));
        FrameException failure = assertThrows(FrameException.class, () -> FrameCodec.decodeCommand(text));
        assertEquals(FrameException.Reason.INVALID_REQUEST_ID, failure.reason());
    }

    @Test
    void framesHaveALimitInBytes() {
        String text = "\"" + "ä".repeat(FrameCodec.MAX_FRAME / 2) + "\"";
        FrameException failure = assertThrows(FrameException.class, () -> FrameCodec.decodeCommand(text));
        assertEquals(FrameException.Reason.TOO_LARGE, failure.reason());
        assertThrows(
                FrameException.class,
                () -> FrameCodec.encode(new ServerEvent.Reply(
                        "r", 400, new ReplyBody.Failure("m".repeat(FrameCodec.MAX_FRAME), Optional.empty()))));
    }

    @Test
    void unknownFieldsAreIgnored() {
        CommandFrame frame = FrameCodec.decodeCommand(
                "{\"x\":1,\"request_id\":\"a\",\"command\":{\"y\":2,\"type\":\"acknowledge\",\"payload\":{\"request_id\":\"b\",\"z\":3}}}");
        assertEquals(new CommandFrame("a", new ClientCommand.Acknowledge("b")), frame);
    }

    @Test
    void anUnknownFailureReasonIsUnknown() {
        SessionRequest sent = SessionRequest.of(
                "s",
                new Secret("t"),
                "r",
                1,
                new SessionPayload.ActivationFailed("a", ActivationFailure.PROCESS_SPAWN_FAILED));
        String text = FrameCodec.encode(new CommandFrame("1", new ClientCommand.Session(sent)))
                .replace("worker_process_spawn_failed", "too_lazy");
        ClientCommand.Session received = assertInstanceOf(
                ClientCommand.Session.class, FrameCodec.decodeCommand(text).command());
        assertEquals(
                new SessionPayload.ActivationFailed("a", ActivationFailure.UNKNOWN),
                received.request().payload());
        assertFalse(received.request().intact());
    }

    @Test
    void anExtraKeyInAPayloadBreaksTheHash() {
        SessionRequest sent = SessionRequest.of("s", new Secret("t"), "r", -1L, new SessionPayload.Release());
        String text = FrameCodec.encode(new CommandFrame("1", new ClientCommand.Session(sent)));
        assertTrue(text.contains("\"sequence\":18446744073709551615"));
        ClientCommand.Session received = assertInstanceOf(
                ClientCommand.Session.class, FrameCodec.decodeCommand(text).command());
        assertEquals(sent, received.request());
    }

    @Test
    void pluginReportsTravel() {
        SessionPayload payload = new SessionPayload.ReportPlugins(
                List.of(
                        new PluginReport("observability", "1.0.0", "active", "", "", "optional"),
                        new PluginReport("pricing", "1.0.0", "active", "", "x", "optional", true)),
                List.of(new SettingReport("logging.level", "\"info\"", "default")));
        ClientCommand command = new ClientCommand.Session(SessionRequest.of("s", new Secret("t"), "r", 2, payload));
        assertEquals(
                command,
                FrameCodec.decodeCommand(FrameCodec.encode(new CommandFrame("1", command)))
                        .command());
    }

    @Test
    void aLeaveTravels() {
        ClientCommand command =
                new ClientCommand.Session(SessionRequest.of("s", new Secret("t"), "r", 3, new SessionPayload.Leave()));
        String text = FrameCodec.encode(new CommandFrame("1", command));
        assertTrue(text.contains("\"type\":\"leave\""), text);
        assertEquals(command, FrameCodec.decodeCommand(text).command());
    }

    @Test
    void everyEventTravels() {
        LaunchGrant grant = new LaunchGrant(
                "a", "secret", LaunchGrant.NO_DEADLINE, "0.0.0.0", 4711, Optional.of("relay.example.com"));
        List<ServerEvent> events = List.of(
                new ServerEvent.DirectiveIssued("1", new Directive.LaunchWorker(grant)),
                new ServerEvent.DirectiveIssued("1", new Directive.ReuseWorker("http://127.0.0.1:1")),
                new ServerEvent.DirectiveIssued("1", new Directive.WaitForWorker(100)),
                new ServerEvent.DirectiveIssued("1", new Directive.UsePassThrough()),
                new ServerEvent.Drain("1", "w", 5, 119_998),
                new ServerEvent.WorkerUnreachable("1", "https://w:1", "no"),
                new ServerEvent.Reply("1", 204, new ReplyBody.Empty()),
                new ServerEvent.Reply("1", 200, new ReplyBody.ActivationCancelled(CancelOutcome.SUPERSEDED)),
                new ServerEvent.Reply(
                        "1", 401, new ReplyBody.Failure("no", Optional.of(ReplyBody.Failure.CREDENTIAL_REJECTED))));
        for (ServerEvent event : events) {
            assertEquals(event, FrameCodec.decodeEvent(FrameCodec.encode(event)));
        }
        assertFalse(events.toString().contains("secret"));
    }

    @Test
    void errorsWithoutABodyAreStillErrors() {
        assertEquals(
                new ServerEvent.Reply("1", 503, new ReplyBody.Failure("status 503", Optional.empty())),
                FrameCodec.decodeEvent("{\"type\":\"reply\",\"request_id\":\"1\",\"status\":503,\"payload\":null}"));
    }

    @Test
    void descriptorsAreChecked() {
        Descriptor ours = Descriptor.ours(Role.MCP);
        assertEquals(Optional.empty(), ours.problem());
        assertEquals(List.of(), ours.missingRequired());
        assertTrue(ours.offers(Capabilities.PEER));
        assertEquals(
                List.of("trailers"),
                with(List.of("http1", "http2", "streaming_body_frames", "sse_passthrough"), "1")
                        .missingRequired());
        assertTrue(with(List.of("HTTP"), "1").problem().isPresent());
        assertTrue(with(List.of("http1"), "").problem().isPresent());
        assertEquals(List.of("a", "b"), with(List.of("b", "a", "b"), "1").capabilities());
        assertEquals(
                1,
                new ProtocolRange(1, 3).highestCommon(new ProtocolRange(1, 1)).orElseThrow());
        assertTrue(
                new ProtocolRange(2, 3).highestCommon(new ProtocolRange(1, 1)).isEmpty());
    }

    @Test
    void advertisedHostsAreChecked() {
        for (String good : List.of("127.0.0.1", "relay.example.com", "a")) {
            assertEquals(Optional.empty(), WorkerNetwork.hostProblem(good), good);
        }
        for (String bad : List.of("", "0.0.0.0", "-a", "a-", "a..b", "a.", "A", "a b", "[::1]", "x".repeat(64))) {
            assertTrue(WorkerNetwork.hostProblem(bad).isPresent(), bad);
        }
    }

    @Test
    void idsHaveTheirShapes() {
        Ids ids = new Ids();
        String uuid = ids.uuid7();
        assertEquals(7, java.util.UUID.fromString(uuid).version());
        assertEquals(2, java.util.UUID.fromString(uuid).variant());
        assertEquals(22, ids.id().length());
        assertEquals(43, ids.secret().text().length());
    }

    private static Descriptor with(List<String> capabilities, String version) {
        return new Descriptor(Descriptor.SERVICE, Role.MCP, ProtocolRange.CURRENT, capabilities, version);
    }
}
