package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.protocol.TimeScale;

/** Answers of the daemon itself, as the reference daemon gives them. */
class SurfaceTest {
    private static final String UNBOUND = "x-nemo-relay-client-token: " + "A".repeat(43);
    private static TestDaemon daemon;
    private static TestDaemon strict;

    @BeforeAll
    static void start() throws IOException {
        daemon = new TestDaemon().start();
        strict = new TestDaemon().with("require_worker", true).start();
    }

    @AfterAll
    static void stop() throws IOException {
        daemon.close();
        strict.close();
    }

    private static RawHttp.Answer ask(String request) throws IOException {
        return RawHttp.once(daemon.port(), request);
    }

    @ParameterizedTest(name = "{0} {1} -> {2}")
    @CsvSource({
        "GET, /healthz, 200",
        "HEAD, /healthz, 200",
        "GET, /healthz?x=1, 200",
        "POST, /healthz, 405",
        "OPTIONS, /_nemo_relay/v1/workers, 405",
        "GET, /_nemo_relay/v1/workers, 200",
        "GET, /_nemo_relay/v1/workers/status, 200",
        "GET, /_nemo_relay/v1/workers/nope/status, 404",
        "GET, /_nemo_relay/v1/workers/, 404",
        "GET, /_nemo_relay/v1/workers/nope, 404",
        "GET, /, 404",
        "GET, /healthz/, 404",
        "GET, /hooks/claude, 404",
        "GET, /hooks/claude-code/, 404",
        "GET, /_nemo-relay/worker/v1/ready, 404",
        "POST, /_nemo-relay/control/v1/heartbeat, 404",
        "GET, /_nemo-relay/control/v1/nope, 404",
        "POST, /_nemo-relay/control/v1/mcp, 405",
        "GET, /_nemo-relay/control/v1/mcp, 400",
        "GET, /v1/messages, 405",
        "DELETE, /v1/responses, 405",
        "POST, /v1/models, 405",
        "GET, /hooks/pi, 405",
    })
    void pathsAndMethods(String method, String path, int status) throws IOException {
        RawHttp.Answer answer = ask(RawHttp.head(method, path) + "content-length: 0\r\n\r\n");
        assertEquals(status, answer.status());
        assertFalse(answer.header("date").isEmpty());
    }

    @Test
    void case36HealthNeedsNoCredentialAndShowsTheMode() throws IOException {
        RawHttp.Answer answer = ask(RawHttp.get("/healthz", "x-nemo-relay-client-token: broken"));
        assertTrue(answer.body().startsWith("{\"deployment_mode\":\"managed\",\"instance_id\":\""), answer.body());
        assertTrue(answer.body().contains("\"service\":\"nemo-relay-daemon\",\"status\":\"ok\",\"version\":\""));
        assertEquals(Set.of("content-type", "cache-control", "content-length", "date"), answer.names());
        assertEquals("no-store", answer.header("cache-control"));
    }

    @Test
    void emptyAnswersCarryLengthAndDateOnly() throws IOException {
        assertEquals(Set.of("content-length", "date"), ask(RawHttp.get("/nope")).names());
        assertEquals(
                Set.of("content-length", "date"),
                ask(RawHttp.get("/v1/messages")).names());
        RawHttp.Answer refused = ask(RawHttp.post("/healthz", ""));
        assertEquals(Set.of("allow", "content-length", "date"), refused.names());
        assertEquals("GET,HEAD", refused.header("allow"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/messages", "/hooks/codex"})
    void case44MalformedAndRepeatedCredentials(String path) throws IOException {
        for (String value :
                List.of("short", "", "A".repeat(42) + "B", "A".repeat(43) + "=", "A".repeat(42) + "\u00e9")) {
            RawHttp.Answer answer = ask(RawHttp.post(path, "{}", "x-nemo-relay-client-token: " + value));
            assertEquals(401, answer.status(), value);
            assertEquals("{\"error\":{\"message\":\"invalid route credential\"}}", answer.body());
        }
        assertEquals(
                "{\"error\":{\"message\":\"exactly one route credential is required\"}}",
                ask(RawHttp.post(path, "{}", UNBOUND, UNBOUND)).body());
        assertEquals(404, ask(RawHttp.post("/nope", "", UNBOUND, UNBOUND)).status());
        assertEquals(401, ask(RawHttp.get(path, UNBOUND, UNBOUND)).status(), "before the method");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/responses", "/v1/responses", "/backend-api/codex/responses"})
    void case50WebSocketProbe(String path) throws IOException {
        assertEquals(
                426,
                ask(RawHttp.get(path, "Connection: Upgrade", "Upgrade: WebSocket"))
                        .status());
        assertEquals(405, ask(RawHttp.get(path)).status());
        assertEquals(
                405,
                ask(RawHttp.get("/v1/messages", "Connection: Upgrade", "Upgrade: websocket"))
                        .status());
        assertEquals(
                "{\"error\":{\"message\":\"CONNECT and HTTP Upgrade are not supported by the daemon data plane\"}}",
                ask(RawHttp.post(path, "{}", "Connection: Upgrade", "Upgrade: websocket"))
                        .body());
    }

    @Test
    void hooksPassThroughInTheAgentsOwnShapeAfterTheBody() throws IOException {
        String large = "x".repeat(3_000_000);
        assertEquals("{}", ask(RawHttp.post("/hooks/codex", large)).body());
        assertEquals("{}", ask(RawHttp.post("/hooks/pi", "", UNBOUND)).body());
        RawHttp.Answer claude = ask(RawHttp.post("/hooks/claude-code", "no json"));
        assertEquals("{\"continue\":true}", claude.body());
        assertEquals(Set.of("content-type", "content-length", "date"), claude.names());
    }

    @Test
    void aHookWhoseBodyBreaksOffIsAnsweredByName() throws IOException {
        RawHttp.Answer broken =
                ask(RawHttp.head("POST", "/hooks/codex") + "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\nno size\r\n");
        assertEquals(400, broken.status());
        assertEquals("{\"error\":{\"message\":\"the request's body broke off\"}}", broken.body());
    }

    @Test
    void case38ModelCatalogsAreNeverStoredEvenOnErrors() throws IOException {
        RawHttp.Answer dead = ask(RawHttp.get("/v1/models"));
        assertEquals(502, dead.status());
        assertEquals("no-store", dead.header("cache-control"));
        assertEquals("no-store", ask(RawHttp.get("/models", UNBOUND, UNBOUND)).header("cache-control"));
        assertEquals("", ask(RawHttp.post("/v1/messages", "{}")).header("cache-control"));
    }

    @Test
    void case56StrictMode() throws IOException {
        assertEquals(404, RawHttp.once(strict.port(), RawHttp.post("/nope", "")).status());
        assertEquals(
                401,
                RawHttp.once(strict.port(), RawHttp.post("/v1/messages", "{}")).status());
        assertEquals(
                401,
                RawHttp.once(strict.port(), RawHttp.post("/v1/messages", "{}", UNBOUND))
                        .status());
        assertEquals(
                401,
                RawHttp.once(strict.port(), RawHttp.post("/hooks/pi", "{}", UNBOUND))
                        .status());
        TestDaemon.User ann = strict.user("ann");
        TestDaemon.Mcp mcp = ann.mcp();
        RawHttp.Answer pending = RawHttp.once(strict.port(), RawHttp.post("/v1/messages", "{}", ann.header()));
        assertEquals(503, pending.status());
        assertEquals("1", pending.header("retry-after"));
        assertEquals(Set.of("content-type", "retry-after", "content-length", "date"), pending.names());
        mcp.release();
        assertEquals(
                503,
                RawHttp.once(strict.port(), RawHttp.post("/v1/messages", "{}", ann.header()))
                        .status());
    }

    @Test
    void portInUseIsOneClearFailure() throws IOException {
        try (TestDaemon second = new TestDaemon().with("port", daemon.port()).start()) {
            assertEquals(1, second.failures.size());
            assertTrue(second.failures.getFirst().getMessage().contains("127.0.0.1:" + daemon.port()));
            assertFalse(second.events.contains("ready"));
        }
    }

    /** A daemon that others than the tests of one machine rely on has the documented times. */
    @Test
    void timersThatAreCutShortForATestAreRefusedWhereOthersCanReachIt() throws IOException {
        for (String[] reachable :
                new String[][] {{"bind", "0.0.0.0"}, {"advertise_address", "https://relay.example"}}) {
            try (TestDaemon second = new TestDaemon().with(reachable[0], reachable[1])) {
                second.environment.put(TimeScale.VARIABLE, "10");
                second.start();
                assertEquals(1, second.failures.size(), reachable[0]);
                assertTrue(second.failures.getFirst().getMessage().startsWith(TimeScale.VARIABLE));
            }
        }
    }

    @Test
    void corruptStateIsOneClearFailure() throws IOException {
        try (TestDaemon second = new TestDaemon()) {
            java.nio.file.Path state = second.folder.resolve("service/nemo-relay/daemon");
            java.nio.file.Files.createDirectories(state);
            java.nio.file.Files.writeString(state.resolve("active-worker-generations.json"), "{");
            second.start();
            assertTrue(
                    second.failures.getFirst().getMessage().contains("active-worker-generations.json"),
                    second.failures.toString());
        }
    }

    @Test
    void statusVerbTellsSeparateFactsWithoutSecrets() {
        TestDaemon.User ann = daemon.user("status");
        TestDaemon.Mcp mcp = ann.mcp();
        String status = org.nemorelay.json.Json.write(daemon.server.run(java.util.Map.of()));
        assertTrue(status.contains("\"session_id\":\"" + mcp.id + "\""), status);
        assertTrue(status.contains("\"state\":\"activating\""));
        assertTrue(status.contains("\"workers\":[],\"plugins\":[]"));
        assertFalse(status.contains(ann.token.text()));
        mcp.release();
    }
}
