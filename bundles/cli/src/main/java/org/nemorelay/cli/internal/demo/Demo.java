package org.nemorelay.cli.internal.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.nemorelay.cli.internal.PublicPaths;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Headers;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;

/**
 * One model request and one hook on their whole way, through real processes: a session's MCP process, the daemon, the
 * worker with its plugin, the hook forwarder, and a provider in this process. What it shows is what was seen at each end.
 *
 * <p>Daemon and worker know the provider under different paths, so the provider can tell who sent a request.
 */
final class Demo {
    private static final String PAST_WORKER = "past-the-worker";
    private static final String BEHIND_WORKER = "behind-the-worker";
    private static final String SESSION = "0d2f0c1e-5f1a-4c58-9f61-6e656d6f7265";
    private static final String TOOL_CALL = "toolu_demo";

    private static final String START = "start";
    private static final String REQUEST = "request";
    private static final String HOOK = "hook";
    private static final String STOP = "stop";

    private static final List<String> BACK = List.of("provider", "worker", "daemon", "harness");

    private static final Duration STARTED = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofSeconds(15);

    private final Scene scene;
    private final Provider provider;
    private final Path tree;
    private final int port = freePort();
    private final String address = "http://127.0.0.1:" + port;
    private final PublicPaths daemonPaths = new PublicPaths(address);
    private final Records records;
    private final String token = newToken();
    private final List<Hop> hops = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private long phaseNanos;
    private Instant phaseTime = Instant.EPOCH;

    Demo(Scene scene, Provider provider, Path tree) {
        this.scene = scene;
        this.provider = provider;
        this.tree = tree;
        this.records = new Records(scene.events());
    }

    /** Runs all of it; {@link DemoFailure} at the first step that fails. What was bypassed is told by {@link #problems}. */
    void run() throws IOException, InterruptedException {
        begin();
        configure();
        Scene.Child daemon = scene.start(
                "daemon",
                Map.of(
                        "NEMO_RELAY_ANTHROPIC_BASE_URL", provider.base(PAST_WORKER),
                        "NEMO_RELAY_OPENAI_BASE_URL", provider.base(PAST_WORKER)),
                "daemon",
                "--port",
                Integer.toString(port));
        await("the daemon", STARTED, daemon, () -> answered(daemonPaths::health));
        hop(START, List.of("daemon"), "serves at " + address);

        Scene.Child mcp = scene.start(
                "mcp", Map.of("NEMO_RELAY_CLIENT_TOKEN", token), "daemon", "mcp", "--daemon-address", address);
        initialize(mcp);
        String worker = await("a ready worker", STARTED, mcp, () -> readyWorker(daemon, mcp));
        hop(
                START,
                List.of("mcp", "worker", "daemon"),
                "worker " + worker + ", started by mcp, has proved itself and is ready");

        request();
        hook();
        stop(daemon, mcp);
    }

    List<Hop> hops() {
        return hops;
    }

    /** What shows that something took another way than the one the demo is about; empty when all is well. */
    List<String> problems() {
        return problems;
    }

    private void configure() throws IOException {
        scene.copyTree(tree);
        String base = provider.base(BEHIND_WORKER);
        scene.configure(
                "config.toml",
                "[upstream]\nanthropic_base_url = \"" + base + "\"\nopenai_base_url = \"" + base + "\"\n");
        scene.configure("plugins.toml", """
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
                filename = "events.jsonl"
                """.formatted(scene.events()));
    }

    private void initialize(Scene.Child mcp) throws IOException, InterruptedException {
        OutputStream in = mcp.process().getOutputStream();
        write(
                in,
                "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
                        + "\"capabilities\":{},\"clientInfo\":{\"name\":\"nemo-relay-demo\",\"version\":\"1\"}}}");
        BufferedReader out =
                new BufferedReader(new InputStreamReader(mcp.process().getInputStream(), StandardCharsets.UTF_8));
        FutureTask<String> line = new FutureTask<>(out::readLine);
        Thread.ofPlatform().daemon().name("demo-mcp").start(line);
        try {
            String answer = line.get(STARTED.toSeconds(), TimeUnit.SECONDS);
            if (answer == null || !Json.parseObject(answer).has("result")) {
                throw new DemoFailure("mcp did not answer initialize but " + answer);
            }
        } catch (ExecutionException | TimeoutException | JsonException e) {
            throw new DemoFailure("mcp did not answer initialize", e);
        }
        write(in, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        hop(START, List.of("harness", "mcp", "daemon"), "initialize is answered: the session is registered");
    }

    private Optional<String> readyWorker(Scene.Child daemon, Scene.Child mcp) {
        if (daemon.wrote("event=worker_activation_failed")) {
            // The worker writes where its MCP client does.
            throw new DemoFailure("the worker did not become ready: " + mcp.lastWords());
        }
        return answered(daemonPaths::workers)
                .flatMap(status -> status.objects("workers").stream()
                        .filter(worker -> worker.string("state").equals("ready"))
                        .map(worker -> worker.string("worker_id"))
                        .findFirst());
    }

    private void request() throws IOException, InterruptedException {
        begin();
        String head = "POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:" + port + "\r\ncontent-type: application/json\r\n"
                + "x-api-key: demo-key\r\nanthropic-version: 2023-06-01\r\nx-claude-code-session-id: " + SESSION
                + "\r\n"
                + Headers.CLIENT_TOKEN + ": " + token + "\r\n";
        String body = "{\"model\":\"demo-model\",\"max_tokens\":64,\"stream\":true,"
                + "\"messages\":[{\"role\":\"user\",\"content\":\"Say hello\"}]}";
        StringBuilder text = new StringBuilder();
        try (StreamedRequest stream = new StreamedRequest(port, head, body)) {
            hop(REQUEST, List.of("harness", "daemon"), "POST /v1/messages with the client token");
            int status = stream.status();
            JsonObject first = stream.event();
            double firstMillis = millis();
            // The provider still withholds the rest, so the request is in flight all the way.
            long inFlight = answered(daemonPaths::workers).stream()
                    .flatMap(workers -> workers.objects("workers").stream())
                    .mapToLong(worker -> worker.integer("in_flight", 0, Long.MAX_VALUE))
                    .sum();
            double countedMillis = millis();
            provider.goOn();
            JsonObject event = first;
            while (!event.string("type").equals("message_stop")) {
                event = stream.event();
                event.optionalObject("delta")
                        .flatMap(delta -> delta.optionalString("text"))
                        .ifPresent(text::append);
            }
            double lastMillis = millis();
            List<Provider.Received> received = provider.received();
            for (Provider.Received seen : received) {
                hops.add(new Hop(
                        REQUEST,
                        List.of(seen.target().startsWith("/" + BEHIND_WORKER + "/") ? "worker" : "daemon", "provider"),
                        "the provider sees POST " + seen.target(),
                        (seen.nanos() - phaseNanos) / 1e6));
            }
            hops.add(new Hop(
                    REQUEST,
                    BACK,
                    "first event (" + first.string("type") + "), while the provider withholds the rest",
                    firstMillis));
            hops.add(new Hop(
                    REQUEST,
                    List.of("daemon"),
                    "meanwhile counts " + inFlight + " request in flight at the worker",
                    countedMillis));
            hops.add(new Hop(REQUEST, BACK, "last event; the text is \"" + text + "\"", lastMillis));
            check(status == 200, "the model request was answered " + status);
            check(inFlight == 1, "the daemon counted " + inFlight + " requests at the worker, not 1");
            check(text.toString().equals(String.join("", Provider.PIECES)), "the streamed text is not the provider's");
            checkProvider(received);
        }
        recorded(REQUEST, "llm", "start", List.of("daemon", "worker"), "the request");
        recorded(REQUEST, "llm", "end", List.of("provider", "worker"), "the answer");
        sort(REQUEST);
    }

    private void checkProvider(List<Provider.Received> received) {
        check(received.size() == 1, "the provider saw " + received.size() + " requests, not 1");
        for (Provider.Received request : received) {
            check(
                    request.target().equals("/" + BEHIND_WORKER + "/v1/messages"),
                    "the request bypassed the worker: the provider saw " + request.target());
            check(
                    request.headers().keySet().stream().noneMatch(name -> name.startsWith(Headers.PRIVATE_PREFIX)),
                    "a private header reached the provider");
            check(
                    "demo-key".equals(request.headers().get("x-api-key")),
                    "the harness's own key did not reach the provider");
        }
    }

    private void hook() throws IOException, InterruptedException {
        begin();
        Scene.Child hook = scene.start(
                "hook",
                Map.of("NEMO_RELAY_CLIENT_TOKEN", token),
                "daemon",
                "hook",
                "claude",
                "--daemon-address",
                address);
        hop(HOOK, List.of("harness", "hook process"), "PreToolUse on standard input");
        write(
                hook.process().getOutputStream(),
                "{\"session_id\":\"" + SESSION + "\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\","
                        + "\"tool_input\":{\"command\":\"echo hello\"},\"tool_use_id\":\"" + TOOL_CALL + "\"}");
        hook.process().getOutputStream().close();
        String answer = new String(hook.process().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = hook.end(SHORT.toSeconds());
        hop(
                HOOK,
                List.of("worker", "daemon", "hook process", "harness"),
                "answer " + answer.strip() + ", exit status " + status);
        check(status == 0, "the hook process ended with status " + status);
        check(answer.startsWith("{\"continue\":true"), "the hook was answered " + answer);
        recorded(HOOK, "tool", "start", List.of("hook process", "daemon", "worker"), "the tool call");
        sort(HOOK);
    }

    /** A bypassed hook is answered alike, so only the record of the worker's plugin proves its way. */
    private void recorded(String phase, String category, String end, List<String> path, String what)
            throws InterruptedException {
        try {
            JsonObject record = await("the record", SHORT, null, () -> records.scope(category, end));
            Duration since = Duration.between(phaseTime, Records.time(record));
            hops.add(new Hop(
                    phase,
                    path,
                    "plugin observability records " + what + ": " + record.string("name") + " " + end,
                    since.toNanos() / 1e6));
        } catch (DemoFailure e) {
            problems.add("a record is missing: " + category + " " + end);
        }
    }

    private void stop(Scene.Child daemon, Scene.Child mcp) throws IOException, InterruptedException {
        begin();
        mcp.process().getOutputStream().close();
        int mcpStatus = mcp.end(SHORT.toSeconds());
        hop(
                STOP,
                List.of("harness", "mcp", "daemon"),
                "end of input: the session is released, exit status " + mcpStatus);
        await("the worker's end", SHORT, null, () -> onlyTheDaemonRuns(daemon));
        hop(STOP, List.of("daemon", "worker"), "no session is left: the worker was drained and has ended");
        daemon.process().destroy();
        int daemonStatus = daemon.end(SHORT.toSeconds());
        hop(STOP, List.of("daemon"), "SIGTERM; exit status " + daemonStatus);
        check(mcpStatus == 0, "mcp ended with status " + mcpStatus);
        check(daemonStatus == 0, "the daemon ended with status " + daemonStatus);
        check(scene.running().isEmpty(), "processes are left: " + scene.running());
    }

    private Optional<Boolean> onlyTheDaemonRuns(Scene.Child daemon) {
        boolean alone = scene.running().stream()
                .allMatch(process -> process.pid() == daemon.process().pid());
        return alone ? Optional.of(true) : Optional.empty();
    }

    private void begin() {
        phaseNanos = System.nanoTime();
        phaseTime = Instant.now();
    }

    private double millis() {
        return (System.nanoTime() - phaseNanos) / 1e6;
    }

    private void hop(String phase, List<String> path, String what) {
        hops.add(new Hop(phase, path, what, millis()));
    }

    /** By time within the phase; the other phases stay where they are. */
    private void sort(String phase) {
        List<Hop> own = new ArrayList<>(
                hops.stream().filter(hop -> hop.phase().equals(phase)).toList());
        own.sort(Comparator.comparingDouble(Hop::millis));
        hops.removeIf(hop -> hop.phase().equals(phase));
        hops.addAll(own);
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            problems.add(otherwise);
        }
    }

    /** @param child whose end makes waiting pointless; null for none */
    private static <T> T await(String what, Duration limit, Scene.Child child, Supplier<Optional<T>> condition)
            throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            Optional<T> value = condition.get();
            if (value.isPresent()) {
                return value.get();
            }
            if (child != null && !child.process().isAlive()) {
                throw new DemoFailure(child.name() + " ended with status "
                        + child.process().exitValue() + " before there was " + what);
            }
            if (System.nanoTime() - deadline > 0) {
                throw new DemoFailure(what + " did not come within " + limit.toSeconds() + " s");
            }
            Thread.sleep(5);
        }
    }

    private static Optional<JsonObject> answered(Supplier<JsonObject> question) {
        try {
            return Optional.of(question.get());
        } catch (RelayException e) {
            return Optional.empty();
        }
    }

    private static void write(OutputStream out, String line) throws IOException {
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new DemoFailure("there is no free port: " + Reasons.of(e), e);
        }
    }

    private static String newToken() {
        byte[] secret = new byte[32];
        new SecureRandom().nextBytes(secret);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    }
}
