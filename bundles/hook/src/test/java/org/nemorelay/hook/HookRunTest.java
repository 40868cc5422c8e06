package org.nemorelay.hook;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.hook.internal.HookOptions;
import org.nemorelay.hook.internal.HookRun;
import org.nemorelay.protocol.ListenerProof;

/** One hook from input to exit status, against a raw socket. Expected lines are the stock binary's. */
class HookRunTest {
    private static final String TOKEN = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA";
    private static final String OPEN = "{\"hook_event_name\":\"SessionStart\"}";
    private static final String CLOSED = "{\"hook_event_name\":\"PreToolUse\"}";

    @TempDir
    Path home;

    private final Map<String, String> environment = new HashMap<>();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @BeforeEach
    void user() {
        environment.put("HOME", home.toString());
        environment.put("NEMO_RELAY_CLIENT_TOKEN", TOKEN);
    }

    private HookRun hook(InputStream in, String... arguments) {
        return new HookRun(
                HookOptions.parse(arguments).orElseThrow(),
                environment,
                Optional.empty(),
                in,
                out,
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private int run(byte[] input, String... arguments) {
        return hook(new ByteArrayInputStream(input), arguments).run();
    }

    private int run(String input, String... arguments) {
        return run(input.getBytes(StandardCharsets.UTF_8), arguments);
    }

    /** Runs against a daemon that answers with these bytes. */
    private int answered(String answer, String input, String... flags) throws Exception {
        try (Daemon daemon = new Daemon(answer)) {
            return run(input, with(flags, "claude", "--daemon-address", daemon.url()));
        }
    }

    private static String[] with(String[] flags, String... arguments) {
        String[] all = Arrays.copyOf(arguments, arguments.length + flags.length);
        System.arraycopy(flags, 0, all, arguments.length, flags.length);
        return all;
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private static String ok(String body) {
        return "HTTP/1.1 200 OK\r\ncontent-length: " + body.length() + "\r\n\r\n" + body;
    }

    @Test
    void sendsOnePostAndCopiesTheAnswer() throws Exception {
        try (Daemon daemon = new Daemon(ok("{\"continue\":true}"))) {
            assertEquals(0, run(OPEN, "claude", "--daemon-address", daemon.url()));
            String request = daemon.received();
            String[] parts = request.split("\r\n\r\n", 2);
            assertEquals(OPEN, parts[1]);
            String[] head = parts[0].split("\r\n");
            assertEquals("POST /hooks/claude-code HTTP/1.1", head[0]);
            assertEquals("host: " + daemon.url().substring(7), head[1]);
            assertEquals("content-type: application/json", head[2]);
            assertEquals("content-length: " + OPEN.length(), head[3]);
            assertEquals("x-nemo-relay-client-token: " + TOKEN, head[4]);
            assertTrue(
                    head[5].matches(
                            "x-nemo-relay-operation-id: [0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
                    head[5]);
            assertEquals("connection: close", head[6]);
            assertEquals(7, head.length);
        }
        assertEquals("{\"continue\":true}", out());
        assertEquals("", err());
    }

    /** The stock program takes nothing but 1 for a yes, and says nothing. */
    @ParameterizedTest
    @CsvSource(nullValues = "unset", textBlock = """
                    unset, 0, ''
                    '',    0, ''
                    0,     0, ''
                    false, 0, ''
                    off,   0, ''
                    1,     2, ''
                    true,  0, nemo-relay daemon hook: NEMO_RELAY_FAIL_CLOSED="true" counts as not set; only 1 makes every hook fail closed
                    ' 1',  0, nemo-relay daemon hook: NEMO_RELAY_FAIL_CLOSED=" 1" counts as not set; only 1 makes every hook fail closed
                    """)
    void aYesThatCountsForNothingIsSaid(String value, int status, String line) {
        if (value != null) {
            environment.put("NEMO_RELAY_FAIL_CLOSED", value);
        }
        environment.put("NEMO_RELAY_CLIENT_TOKEN", "none");
        assertEquals(status, run(OPEN, "claude", "--daemon-address", "http://127.0.0.1:1"));
        assertEquals(status == 0 ? "{\"continue\":true}" : "", out());
        assertEquals(status == 0 && !line.isEmpty() ? line + "\n" : "", status == 0 ? err() : "");
    }

    @Test
    void whereTheVariableDecidesNothingNothingIsSaidOfIt() throws Exception {
        environment.put("NEMO_RELAY_FAIL_CLOSED", "yes");
        assertEquals(0, answered(ok("{}"), OPEN, "--fail-open"));
        assertEquals("", err());
        String denied = "{\"error\":{\"type\":\"nemo_relay_guardrail_rejected\",\"reason\":\"no\"}}";
        assertEquals(
                2,
                answered("HTTP/1.1 403 Forbidden\r\ncontent-length: " + denied.length() + "\r\n\r\n" + denied, CLOSED));
        assertEquals("no\n", err());
    }

    /** Java would end with exit status 1, by which an agent goes on. */
    @Test
    void aDefectIsAFailureUnderTheEventsPolicyToo() {
        InputStream defective = new InputStream() {
            @Override
            public int read() {
                throw new IllegalStateException("made up");
            }
        };
        assertEquals(
                2,
                hook(defective, "claude", "--daemon-address", "http://127.0.0.1:1")
                        .run());
        assertTrue(
                err().lines()
                        .toList()
                        .getLast()
                        .startsWith(
                                "nemo-relay hook forward failed: internal error: java.lang.IllegalStateException: made up at "),
                err());
        err.reset();
        assertEquals(
                0,
                hook(defective, "claude", "--daemon-address", "http://127.0.0.1:1", "--fail-open")
                        .run());
        assertEquals(1, err().lines().count(), err());
    }

    /** Exit status 1, which the stock program has here, would let a tool call pass that is to fail closed. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    NEMO_RELAY_LOG               | nope | NEMO_RELAY_LOG: invalid logging level 'nope'; expected error, warn, info, debug, or trace
                    NEMO_RELAY_LOG               | ''   | NEMO_RELAY_LOG must not be empty when set
                    NEMO_RELAY_LOG_STDERR_FORMAT | x    | NEMO_RELAY_LOG_STDERR_FORMAT: invalid logging stderr format 'x'; expected human or jsonl
                    NEMO_RELAY_LOG_STDERR        | yes  | NEMO_RELAY_LOG_STDERR: invalid value 'yes'; expected true or false
                    """)
    void aHookGoesOnWithoutTheLogThatItCannotHave(String variable, String value, String said) throws Exception {
        environment.put(variable, value);
        String line = "nemo-relay daemon hook: " + said + "; errors alone are logged, on standard error\n";
        assertEquals(0, answered(ok("{}"), CLOSED));
        assertEquals("{}", out());
        assertEquals(line, err());
        err.reset();
        out.reset();
        assertEquals(2, run(CLOSED, "claude", "--daemon-address", "http://127.0.0.1:1"));
        assertEquals("", out());
        assertTrue(err().startsWith(line), err());
        assertEquals(3, err().lines().count(), err());
        err.reset();
        assertEquals(0, run(OPEN, "claude", "--daemon-address", "http://127.0.0.1:1"));
        assertTrue(err().startsWith(line), err());
        assertEquals(2, err().lines().count(), err());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\nt: 1\r\n\r\n",
                "HTTP/1.1 200 OK\r\n\r\n{}",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}rest",
                "HTTP/1.0 200\r\ncontent-length:2\r\n\r\n{}",
            })
    void everyFramingOfAnAnswerIsUnderstood(String answer) throws Exception {
        assertEquals(0, answered(answer, OPEN));
        assertEquals("{}", out());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "HTTP/1.1 200 OK\r\n",
                "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
                "HTTP/1.1 200 OK\r\ncontent-length: 1048577\r\n\r\n",
                "SSH-2.0-OpenSSH\r\n",
                "HTTP/1.1 101 Switching\r\n\r\n",
            })
    void case106BrokenAnswersAreDeliveryFailures(String answer) throws Exception {
        assertEquals(2, answered(answer, CLOSED));
        assertEquals("", out());
        assertTrue(err().contains("\nnemo-relay hook forward failed: launcher error: "), err());
    }

    @Test
    void emptyInputIsDeliveredAsAnEmptyObject() throws Exception {
        try (Daemon daemon = new Daemon(ok("{}"))) {
            assertEquals(0, run(" \n", "codex", "--daemon-address", daemon.url()));
            assertTrue(daemon.received().endsWith("\r\n\r\n{}"));
        }
    }

    @Test
    void textThatIsNotJsonIsDelivered() throws Exception {
        assertEquals(0, answered(ok("{}"), "nope"));
    }

    @Test
    void case106GuardrailIsNeverFailedOpen() throws Exception {
        String body =
                "{\"error\":{\"message\":\"guardrail rejected: no\",\"type\":\"nemo_relay_guardrail_rejected\",\"reason\":\"no \\u001b[1mshell\"}}";
        assertEquals(
                2,
                answered(
                        "HTTP/1.1 403 Forbidden\r\ncontent-length: " + body.length() + "\r\n\r\n" + body,
                        CLOSED,
                        "--fail-open"));
        assertEquals("no  [1mshell\n", err());
        assertEquals("", out());
    }

    /** Codex lets a call pass whose denial has nothing to say. */
    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\\u0001", "\\u00a0\\n", "\\u0085"})
    void aDenialAlwaysSaysSomething(String reason) throws Exception {
        for (String message : List.of("no", reason)) {
            String body = "{\"error\":{\"message\":\"" + message
                    + "\",\"type\":\"nemo_relay_guardrail_rejected\",\"reason\":\"" + reason + "\"}}";
            assertEquals(
                    2,
                    answered("HTTP/1.1 403 Forbidden\r\ncontent-length: " + body.length() + "\r\n\r\n" + body, CLOSED));
        }
        assertEquals("no\ndenied without a reason\n", err());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "401 | unauthorized | unauthorized gateway client: the daemon answered 401: m; no session of this user is registered there under its client token: the agent's MCP entry (`nemo-relay daemon mcp`) has to run, and to find the same token",
                "413 | payload_too_large | payload too large: the daemon answered 413: m",
                "503 | upstream | upstream error: the daemon answered 503: m; this user's worker does not serve yet: try again, and ask `nemo-relay status`"
            })
    void otherAnswersAreFailures(int status, String kind, String line) throws Exception {
        String answer = "HTTP/1.1 " + status + " No\r\n\r\n{\"error\":{\"message\":\"m\"}}";
        assertEquals(2, answered(answer, CLOSED));
        assertTrue(err().endsWith("nemo-relay hook forward failed: " + line + "\n"), err());
        assertTrue(err().contains("error_kind=" + kind + " "), err());
        err.reset();
        assertEquals(0, answered(answer, OPEN));
        assertEquals("nemo-relay daemon hook failed: " + line + "\n", err());
    }

    @Test
    void failingClosedSaysItInOneLineOfTheLogAndOneOfItsOwn() throws Exception {
        String url;
        try (ServerSocket unused = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            url = "http://127.0.0.1:" + unused.getLocalPort();
        }
        assertEquals(2, run(CLOSED, "claude", "--daemon-address", url));
        String[] lines = err().split("\n");
        assertEquals(2, lines.length, err());
        assertTrue(
                lines[0].matches(
                        "\\S+Z ERROR root=[0-9a-f]{8} target=nemo_relay.hook event=daemon_hook_delivery_failed error_kind=launch mode=fail_closed Managed daemon hook delivery failed"),
                lines[0]);
        assertEquals(
                "nemo-relay hook forward failed: launcher error: failed to connect to daemon " + url
                        + ": Connection refused",
                lines[1]);
        err.reset();
        assertEquals(0, run(OPEN, "claude", "--daemon-address", url));
        assertEquals(
                "nemo-relay daemon hook failed: launcher error: failed to connect to daemon " + url
                        + ": Connection refused\n",
                err());
        assertEquals("", out());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    claude | SessionStart      |               |   | 0 | {"continue":true} | 0
                    codex  | SessionStart      |               |   | 0 | {}                | 0
                    pi     | session_start     | --fail-open   |   | 0 | {}                | 0
                    claude | PreToolUse        |               |   | 2 |                   | 2
                    claude | PermissionRequest |               |   | 2 |                   | 2
                    pi     | tool_call         |               |   | 2 |                   | 2
                    pi     | userBash          |               |   | 2 |                   | 2
                    pi     | user_bash         |               |   | 2 |                   | 2
                    pi     | toolCall          |               |   | 2 |                   | 2
                    codex  | pre_tool_call     |               |   | 2 |                   | 2
                    claude | PostToolUse       |               |   | 0 | {"continue":true} | 0
                    claude | PreToolUse        | --fail-open   |   | 0 |                   | 0
                    claude | SessionStart      | --fail-closed |   | 2 |                   | 2
                    claude | SessionStart      |               | 1 | 2 |                   | 2
                    """)
    void case106WithoutCredentialTheDaemonIsNotContacted(
            String agent, String event, String flag, String failClosed, int status, String answer, int lines)
            throws Exception {
        environment.put("NEMO_RELAY_CLIENT_TOKEN", "malformed");
        if (failClosed != null) {
            environment.put("NEMO_RELAY_FAIL_CLOSED", failClosed);
        }
        String[] flags = flag == null ? new String[0] : new String[] {flag};
        try (Daemon daemon = new Daemon(ok("contacted"))) {
            assertEquals(
                    status,
                    run(
                            "{\"hook_event_name\":\"" + event + "\"}",
                            with(flags, agent, "--daemon-address", daemon.url())));
            assertFalse(daemon.contacted());
        }
        assertEquals(answer == null ? "" : answer, out());
        assertEquals(lines, err().lines().count(), err());
        assertTrue(lines == 0
                || err().endsWith(
                                "No NeMo Relay client credential is available: NEMO_RELAY_CLIENT_TOKEN does not hold a client"
                                        + " token, which is 43 characters of base64url: correct it, or unset it and run"
                                        + " `nemo-relay daemon token ensure`\n"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nope",
                "[]",
                "{}",
                "{\"hook_event_name\":5}",
                "{\"name\":\"SessionStart\"}",
                "{\"a\":1,\"a\":1}"
            })
    void anEventThatCannotBeToldFailsClosed(String input) {
        environment.remove("NEMO_RELAY_CLIENT_TOKEN");
        assertEquals(2, run(input, "claude", "--daemon-address", "http://127.0.0.1:1"));
    }

    @Test
    void case106InputThatIsNotUtf8FailsClosedUnlessAFlagSaysOtherwise() {
        byte[] input = {'{', '"', 'a', (byte) 0xff, '"', ':', '1', '}'};
        assertEquals(2, run(input, "claude", "--daemon-address", "http://127.0.0.1:1"));
        assertTrue(
                err().endsWith(
                                "nemo-relay hook forward failed: invalid hook payload: hook payload is not UTF-8: invalid sequence at index 3\n"),
                err());
        assertEquals(0, run(input, "claude", "--daemon-address", "http://127.0.0.1:1", "--fail-open"));
    }

    @Test
    void case106InputOverTheLimitFailsClosed() {
        byte[] input = new byte[(20 << 20) + 1];
        Arrays.fill(input, (byte) ' ');
        environment.put("NEMO_RELAY_LOG", "info");
        assertEquals(2, run(input, "claude", "--daemon-address", "http://127.0.0.1:1"));
        assertTrue(err().contains("event=hook_failed"), err());
        assertTrue(err().contains("event=command_failed"), err());
        assertTrue(err().contains("event=limit_exceeded boundary=daemon_hook_forward elapsed_millis="), err());
        assertTrue(err().contains(" limit_bytes=20971520 limit_name=max_hook_payload_bytes operation_id="), err());
        assertTrue(
                err().endsWith(
                                "nemo-relay hook forward failed: payload too large: hook payload exceeds the 20971520-byte limit\n"),
                err());
    }

    @Test
    void twentyMebibytesArriveUntouched() throws Exception {
        byte[] input = new byte[20 << 20];
        Arrays.fill(input, (byte) 'x');
        try (Daemon daemon = new Daemon(ok("{}"))) {
            assertEquals(0, run(input, "claude", "--daemon-address", daemon.url()));
            byte[] request = daemon.receivedBytes();
            assertArrayEquals(input, Arrays.copyOfRange(request, request.length - input.length, request.length));
        }
    }

    @Test
    void theEventOfALargePayloadIsReadWithoutKeepingIt() {
        for (String event : new String[] {"Stop", "PreToolUse"}) {
            byte[] head = "{\"x\":\"".getBytes(StandardCharsets.UTF_8);
            byte[] tail = ("\",\"y\":[{}],\"hook_event_name\":\"" + event + "\"}").getBytes(StandardCharsets.UTF_8);
            byte[] input = new byte[20 << 20];
            Arrays.fill(input, (byte) 'x');
            System.arraycopy(head, 0, input, 0, head.length);
            System.arraycopy(tail, 0, input, input.length - tail.length, tail.length);
            assertEquals(event.equals("Stop") ? 0 : 2, run(input, "claude", "--daemon-address", "http://127.0.0.1:1"));
        }
    }

    @Test
    void charactersAcrossTheBlocksOfALargePayloadAreNoMistake() throws Exception {
        for (int length : new int[] {(8 << 10) + 2, (264 << 10) + 1, (264 << 10) + 2, (264 << 10) + 3}) {
            byte[] input = new byte[length];
            Arrays.fill(input, (byte) 'x');
            for (int at : new int[] {(8 << 10) - 1, (264 << 10) - 3}) {
                if (at + 3 <= length) {
                    System.arraycopy("\u65e5".getBytes(StandardCharsets.UTF_8), 0, input, at, 3);
                }
            }
            try (Daemon daemon = new Daemon(ok("{}"))) {
                assertEquals(0, run(input, "claude", "--daemon-address", daemon.url()), err());
                byte[] request = daemon.receivedBytes();
                assertArrayEquals(input, Arrays.copyOfRange(request, request.length - input.length, request.length));
            }
            byte[] endless = Arrays.copyOf(input, length + 1);
            endless[length] = (byte) 0xe6; // A sequence that does not end.
            assertEquals(2, run(endless, "claude", "--daemon-address", "http://127.0.0.1:1"));
            assertTrue(err().contains("not UTF-8: invalid sequence at index " + length), err());
        }
    }

    @Test
    void unfinishedInputAtTheDeadlineFailsClosedOnce() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        InputStream endless = new InputStream() {
            @Override
            public int read() throws IOException {
                try {
                    release.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
                return -1;
            }
        };
        HookRun hook = hook(endless, "claude", "--daemon-address", "http://127.0.0.1:1");
        CompletableFuture<Integer> main = CompletableFuture.supplyAsync(hook::run);
        assertEquals(2, hook.expire());
        assertTrue(err().endsWith("launcher error: standard input did not end in time\n"), err());
        release.countDown();
        assertEquals(HookRun.TOLD, main.get(20, TimeUnit.SECONDS));
        assertEquals(2, err().lines().count());
    }

    @Test
    void aSilentDaemonAtTheDeadlineIsAFailureUnderTheEventsPolicy() throws Exception {
        try (Daemon daemon = new Daemon(null)) {
            HookRun hook = hook(
                    new ByteArrayInputStream(OPEN.getBytes(StandardCharsets.UTF_8)),
                    "claude",
                    "--daemon-address",
                    daemon.url());
            CompletableFuture<Integer> main = CompletableFuture.supplyAsync(hook::run);
            daemon.received();
            assertEquals(0, hook.expire());
            assertEquals("nemo-relay daemon hook failed: launcher error: the daemon did not answer in time\n", err());
            daemon.hangUp();
            assertEquals(HookRun.TOLD, main.get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void aWrongLogLevelDoesNotWeakenTheHook() {
        environment.put("NEMO_RELAY_LOG", "nope");
        environment.remove("NEMO_RELAY_CLIENT_TOKEN");
        assertEquals(2, run(CLOSED, "claude", "--daemon-address", "http://127.0.0.1:1"));
    }

    /** Takes one connection, proves that it knows the token, reads one request with a length, answers, closes. */
    private static final class Daemon implements AutoCloseable {
        private final ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"));
        private final CompletableFuture<byte[]> request = new CompletableFuture<>();
        private final CompletableFuture<Socket> accepted = new CompletableFuture<>();

        /** @param answer null to stay silent */
        Daemon(String answer) throws IOException {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    Socket socket = server.accept();
                    accepted.complete(socket);
                    prove(socket);
                    request.complete(read(socket.getInputStream()));
                    if (answer != null) {
                        socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
                        socket.close();
                    }
                } catch (IOException e) {
                    request.completeExceptionally(e);
                }
            });
        }

        String url() {
            return "http://127.0.0.1:" + server.getLocalPort();
        }

        boolean contacted() {
            return accepted.isDone();
        }

        byte[] receivedBytes() throws Exception {
            return request.get(20, TimeUnit.SECONDS);
        }

        String received() throws Exception {
            return new String(receivedBytes(), StandardCharsets.UTF_8);
        }

        private static void prove(Socket socket) throws IOException {
            String question = Heads.read(socket.getInputStream());
            byte[] answer = ListenerProof.answer(
                    TOKEN,
                    ListenerProof.bytes(Heads.value(question, ListenerProof.NONCE_HEADER))
                            .orElseThrow(),
                    new byte[ListenerProof.NONCE_LENGTH],
                    ListenerProof.origin(socket.getLocalAddress(), socket.getLocalPort()));
            socket.getOutputStream().write(Heads.ok(answer));
        }

        private static byte[] read(InputStream in) throws IOException {
            String head = Heads.read(in);
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            all.writeBytes(head.getBytes(StandardCharsets.ISO_8859_1));
            all.writeBytes(in.readNBytes(Integer.parseInt(Heads.value(head, "content-length"))));
            return all.toByteArray();
        }

        void hangUp() throws IOException {
            if (accepted.isDone()) {
                accepted.join().close();
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
            hangUp();
        }
    }
}
