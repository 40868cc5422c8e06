import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Works with a tree as a busy day would, so that what the caches are made from knows which code is worth compiling:
 * thousands of requests through a daemon and a worker, past the worker, streamed, large, observed and not, and some hooks.
 *
 * <p>{@code java Practice.java TREE SCRATCH}, in an environment that the processes may have.
 */
final class Practice {
    private static final int CONNECTIONS = 8;
    private static final int ROUNDS = 300;
    private static final long LIMIT_SECONDS = 60;
    private static final String TOKEN = "cHJhY3RpY2UtcHJhY3RpY2UtcHJhY3RpY2UtMDAwMDA";

    private static final String BODY =
            "{\"model\":\"m\",\"max_tokens\":64,\"messages\":[{\"role\":\"user\",\"content\":\"Say hello, and go on\"}]}";
    private static final String ANSWER = "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\","
            + "\"content\":[{\"type\":\"text\",\"text\":\"Hello from the other end.\"}],\"stop_reason\":\"end_turn\","
            + "\"usage\":{\"input_tokens\":12,\"output_tokens\":7}}";
    private static final String[] EVENTS = {
        "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\","
                + "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":12,\"output_tokens\":1}}}",
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello \"}}",
        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"from the other end.\"}}",
        "{\"type\":\"content_block_stop\",\"index\":0}",
        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}",
        "{\"type\":\"message_stop\"}"
    };

    /** Paths with a record and without one, streamed, and with answers of many reads. */
    private static final String[] REQUESTS = {
        "/v1/messages", "/v1/messages", "/v1/messages?streamed", "/v1/messages/count_tokens", "/v1/messages/count_tokens?large"
    };

    private final Path tree;
    private final Path scratch;
    private final int port;
    private final String address;

    private Practice(Path tree, Path scratch) throws IOException {
        this.tree = tree;
        this.scratch = scratch;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        address = "http://127.0.0.1:" + port;
    }

    public static void main(String[] arguments) throws Exception {
        new Practice(Path.of(arguments[0]), Path.of(arguments[1])).run();
    }

    private void run() throws Exception {
        ServerSocket provider = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().start(() -> provide(provider));
        String base = "http://127.0.0.1:" + provider.getLocalPort();
        Path etc = Files.createDirectories(tree.resolve("etc"));
        Files.writeString(etc.resolve("config.toml"), "[upstream]\nanthropic_base_url = \"" + base + "\"\n");
        Files.writeString(etc.resolve("plugins.toml"), """
                version = 1
                [[components]]
                kind = "observability"
                [components.config]
                version = 4
                [components.config.atof]
                enabled = true
                [[components.config.atof.sinks]]
                type = "file"
                output_directory = "%s"
                filename = "practice.jsonl"
                """.formatted(scratch));
        Process daemon = start(Map.of("NEMO_RELAY_ANTHROPIC_BASE_URL", base), "daemon", "--port", "" + port);
        await("the daemon", () -> get("/healthz").startsWith("HTTP/1.1 200"));
        Process mcp = start(Map.of("NEMO_RELAY_CLIENT_TOKEN", TOKEN), "daemon", "mcp", "--daemon-address", address);
        say(mcp, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
                + "\"capabilities\":{},\"clientInfo\":{\"name\":\"practice\",\"version\":\"1\"}}}");
        new BufferedReader(new InputStreamReader(mcp.getInputStream(), StandardCharsets.UTF_8)).readLine();
        say(mcp, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        await("a ready worker", () -> get("/_nemo_relay/v1/workers/status").contains("\"ready\""));

        for (int i = 0; i < 3; i++) {
            Process hook = start(
                    Map.of("NEMO_RELAY_CLIENT_TOKEN", TOKEN), "daemon", "hook", "claude", "--daemon-address", address);
            say(hook, "{\"session_id\":\"s\",\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\","
                    + "\"tool_input\":{\"command\":\"echo\"},\"tool_use_id\":\"t" + i + "\",\"tool_response\":\"hi\"}");
            hook.getOutputStream().close();
            end("a hook", hook);
        }
        load();

        mcp.getOutputStream().close();
        end("mcp", mcp);
        // Each writes its record when it ends.
        await("the worker's end", () -> ProcessHandle.allProcesses()
                .map(process -> process.info().arguments())
                .noneMatch(line -> line.isPresent()
                        && List.of(line.get()).contains("worker")
                        && List.of(line.get()).contains(address)));
        daemon.destroy();
        end("the daemon", daemon);
        for (String file : List.of("config.toml", "plugins.toml", "")) {
            Files.delete(etc.resolve(file));
        }
    }

    private void load() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        AtomicInteger done = new AtomicInteger();
        for (int i = 0; i < CONNECTIONS; i++) {
            String credential = i % 2 == 0 ? "x-nemo-relay-client-token: " + TOKEN + "\r\n" : "";
            threads.add(Thread.ofPlatform().start(() -> {
                try (Socket socket = connect()) {
                    DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(socket.getInputStream()));
                    for (int round = 0; round < ROUNDS; round++) {
                        for (String path : REQUESTS) {
                            socket.getOutputStream().write(request("POST " + path, credential, BODY));
                            if (!message(in).startsWith("HTTP/1.1 200")) {
                                return;
                            }
                            done.incrementAndGet();
                        }
                    }
                } catch (IOException e) {
                    System.err.println("practice: " + e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (done.get() != CONNECTIONS * ROUNDS * REQUESTS.length) {
            throw new IllegalStateException("only " + done + " requests were answered");
        }
    }

    // ---- the provider

    private static void provide(ServerSocket server) {
        while (true) {
            try {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                Thread.ofPlatform().daemon().start(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private static void serve(Socket socket) {
        try (socket) {
            DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(socket.getInputStream()));
            OutputStream out = socket.getOutputStream();
            for (String head = message(in); !head.isEmpty(); head = message(in)) {
                if (head.contains("?streamed")) {
                    out.write(bytes(
                            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"));
                    for (String event : EVENTS) {
                        String text = "event: e\ndata: " + event + "\n\n";
                        out.write(bytes(Integer.toHexString(text.length()) + "\r\n" + text + "\r\n"));
                    }
                    out.write(bytes("0\r\n\r\n"));
                } else {
                    String answer = head.contains("?large") ? "x".repeat(200_000) : ANSWER;
                    out.write(bytes("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
                            + answer.length() + "\r\n\r\n" + answer));
                }
            }
        } catch (IOException e) {
            return;
        }
    }

    // ---- as little HTTP as this needs

    private static byte[] request(String line, String headers, String body) {
        return bytes(line + " HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nx-api-key: k\r\n"
                + "user-agent: practice/1.0\r\naccept: application/json\r\nanthropic-version: 2023-06-01\r\n" + headers
                + "content-length: " + body.length() + "\r\n\r\n" + body);
    }

    /** Head of the next message, its body and all read away; empty at the end. */
    private static String message(DataInputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        long length = 0;
        boolean chunked = false;
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            head.append(line).append('\n');
            String lower = line.toLowerCase(java.util.Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Long.parseLong(lower.substring(15).strip());
            } else if (lower.startsWith("transfer-encoding:")) {
                chunked = true;
            }
        }
        in.skipNBytes(length);
        while (chunked) {
            int size = Integer.parseInt(line(in), 16);
            in.skipNBytes(size + 2);
            chunked = size > 0;
        }
        return head.toString();
    }

    private static String line(DataInputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(30_000);
        socket.setTcpNoDelay(true);
        return socket;
    }

    private String get(String path) {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(bytes("GET " + path + " HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    // ---- processes

    private Process start(Map<String, String> environment, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(tree.resolve("bin/nemo-relay").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static void say(Process process, String line) throws IOException {
        process.getOutputStream().write(bytes(line + "\n"));
        process.getOutputStream().flush();
    }

    private static void end(String what, Process process) throws InterruptedException {
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IllegalStateException(what + " did not end well");
        }
    }

    private interface Condition {
        boolean holds();
    }

    private static void await(String what, Condition condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.holds()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(what + " did not come within " + LIMIT_SECONDS + " s");
            }
            Thread.sleep(20);
        }
    }
}
