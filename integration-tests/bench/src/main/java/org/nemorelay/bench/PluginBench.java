package org.nemorelay.bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.StreamOutput;

/**
 * What plugins cost a request: the same requests through workers that differ in their plugins alone, in turns, so that what
 * the machine does meanwhile hits all of them.
 */
final class PluginBench {
    private static final int INTERCEPTS = 20;
    private static final int ROUNDS = 9;
    /** So many that the compiler has come to rest, of the plugins' code too. */
    private static final int WARM_UP = 40_000;

    private static final int REQUESTS = 1_500;
    private static final int EVENTS = 10_000;
    private static final int WARM_STREAMS = 150;
    private static final String BODY =
            "{\"model\":\"mock-model\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"say hi\"}]}";

    private final Path folder;
    private final LeanProvider lean;

    PluginBench(Path folder, LeanProvider lean) {
        this.folder = folder;
        this.lean = lean;
    }

    /** Sets one header, named by its configuration. */
    public static final class Header implements RequestIntercept {
        private final String name;

        public Header(Map<String, Object> properties) {
            name = "x-" + properties.get("name");
        }

        @Override
        public CompletionStage<ModelRequest> rewrite(ModelRequest request) {
            return CompletableFuture.completedStage(request.withHeader(name, "1"));
        }
    }

    /** Passes every event on as it is. */
    public static final class Passing implements StreamIntercept, StreamHandler {
        public Passing(Map<String, Object> properties) {}

        @Override
        public StreamHandler open(ModelRequest request, ModelResponse.Streamed response) {
            return this;
        }

        @Override
        public CompletionStage<Void> onEvent(StreamEvent event, StreamOutput out) {
            out.emit(event);
            return DONE;
        }
    }

    /** A daemon and a worker with certain plugins. */
    private final class Way implements AutoCloseable {
        final User user;
        final Relay relay;
        final McpSession session;

        Way(String name, String components, Events events) {
            String toml = "[upstream]\nanthropic_base_url = \"" + lean.origin() + "\"\nopenai_base_url = \""
                    + events.origin() + "/v1\"\n";
            Path tree = Distribution.privateTree(folder.resolve("tree-" + name), toml, "version = 1\n" + components);
            Path plugins = tree.resolve("etc/plugins");
            if (name.equals("headers")) {
                for (int i = 0; i < INTERCEPTS; i++) {
                    new PluginJar("header_" + i, Header.class, RequestIntercept.class).deploy(plugins);
                }
            } else if (name.equals("stream")) {
                new PluginJar("passing", Passing.class, StreamIntercept.class).deploy(plugins);
            }
            String executable = tree.resolve("bin/nemo-relay").toString();
            user = User.self(folder.resolve("home-plugins-" + name));
            relay = Relay.start(
                    user,
                    Path.of(executable),
                    Proc.spec()
                            .env("NEMO_RELAY_ANTHROPIC_BASE_URL", lean.origin())
                            .env("NEMO_RELAY_OPENAI_BASE_URL", events.origin() + "/v1"));
            session =
                    McpSession.start(user.withToken(executable, "daemon", "mcp", "--daemon-address", relay.address()));
            session.initialize();
            relay.awaitReadyWorker();
        }

        Load load() {
            return new Load(relay.port(), "/v1/messages", user.header() + "\r\n");
        }

        /** Milliseconds until a stream of {@link #EVENTS} events is read. */
        double streamMillis() {
            long begin = System.nanoTime();
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), relay.port())) {
                socket.setTcpNoDelay(true);
                socket.getOutputStream()
                        .write(("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
                                        + user.header() + "\r\ncontent-length: " + BODY.length() + "\r\n\r\n" + BODY)
                                .getBytes(StandardCharsets.US_ASCII));
                InputStream in = socket.getInputStream();
                byte[] buffer = new byte[64 * 1024];
                String tail = "";
                while (!tail.endsWith("0\r\n\r\n")) {
                    int count = in.read(buffer);
                    if (count < 0) {
                        throw new IOException("the stream broke off");
                    }
                    String read =
                            new String(buffer, Math.max(0, count - 8), Math.min(count, 8), StandardCharsets.US_ASCII);
                    tail = (tail + read).substring(Math.max(0, tail.length() + read.length() - 8));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return (System.nanoTime() - begin) / 1e6;
        }

        @Override
        public void close() {
            session.end();
            session.close();
            relay.close();
        }
    }

    /** A provider of long streams: each event is one write. */
    private static final class Events implements AutoCloseable {
        private static final byte[] HEAD =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                        .getBytes(StandardCharsets.US_ASCII);
        private static final byte[] EVENT;

        static {
            String event =
                    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n";
            EVENT = (Integer.toHexString(event.length()) + "\r\n" + event + "\r\n").getBytes(StandardCharsets.US_ASCII);
        }

        private final ServerSocket server;

        Events() throws IOException {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Thread.ofPlatform().daemon().start(this::accept);
        }

        String origin() {
            return "http://127.0.0.1:" + server.getLocalPort();
        }

        private void accept() {
            while (!server.isClosed()) {
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
                InputStream in = new BufferedInputStream(socket.getInputStream());
                OutputStream out = socket.getOutputStream();
                while (request(in)) {
                    out.write(HEAD);
                    for (int i = 0; i < EVENTS; i++) {
                        out.write(EVENT);
                    }
                    out.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                }
            } catch (IOException e) {
                // The relay closed it.
            }
        }

        private static boolean request(InputStream in) throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int b = in.read();
                if (b < 0) {
                    return false;
                }
                head.append((char) b);
            }
            int length = head.toString()
                    .toLowerCase(Locale.ROOT)
                    .lines()
                    .filter(line -> line.startsWith("content-length:"))
                    .mapToInt(line -> Integer.parseInt(line.substring(15).strip()))
                    .findFirst()
                    .orElse(0);
            in.skipNBytes(length);
            return true;
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }

    /** The report. */
    String run() throws Exception {
        String requests = requests();
        return requests + DeployBench.run(folder, lean);
    }

    private String requests() throws IOException {
        StringBuilder headers = new StringBuilder();
        for (int i = 0; i < INTERCEPTS; i++) {
            headers.append("[[components]]\nkind = \"header_" + i + "\"\n[components.config]\nname = \"h" + i + "\"\n");
        }
        String observer = """
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
                """.formatted(folder);
        try (Events events = new Events();
                Way none = new Way("none", "", events);
                Way observed = new Way("observer", observer, events);
                Way rewritten = new Way("headers", headers.toString(), events);
                Way streamed = new Way("stream", "[[components]]\nkind = \"passing\"\n", events)) {
            Map<Way, Load> loads = new LinkedHashMap<>();
            for (Way way : List.of(none, observed, rewritten)) {
                loads.put(way, way.load());
            }
            Map<Way, List<Double>> p50s = new LinkedHashMap<>();
            loads.forEach((way, load) -> load.latencies(WARM_UP));
            for (int round = 0; round < ROUNDS; round++) {
                loads.forEach((way, load) ->
                        p50s.computeIfAbsent(way, none1 -> new ArrayList<>()).add(median(load.latencies(REQUESTS))));
            }
            Map<Way, List<Double>> streams = new LinkedHashMap<>();
            for (int i = 0; i < WARM_STREAMS; i++) {
                none.streamMillis();
                streamed.streamMillis();
            }
            for (int round = 0; round < ROUNDS; round++) {
                for (Way way : List.of(none, streamed)) {
                    streams.computeIfAbsent(way, none1 -> new ArrayList<>()).add(way.streamMillis());
                }
            }
            double base = median(p50s.get(none));
            double withObserver = median(p50s.get(observed));
            double withHeaders = median(p50s.get(rewritten));
            double untouched = median(streams.get(none));
            double through = median(streams.get(streamed));
            return """
                    # What plugins cost

                    Written by `integration-tests/bench/bench plugins`; do not edit by hand. What holds each figure is in
                    [performance-notes.md](performance-notes.md).

                    Machine: %s

                    Four daemons with a worker each, which differ in their plugins alone, asked in turns on one connection; the median
                    of %d rounds. A fifth one whose plugins come and go.

                    | | figure | target |
                    | --- | --- | --- |
                    | p50 without a plugin | %.0f µs | |
                    | p50 with one observing plugin | %.0f µs, %+.1f %% | at most +5 %% |
                    | p50 with %d request intercepts of one header each | %.0f µs, %+.0f µs | under 50 µs added |
                    | a stream of %,d events, untouched | %.1f ms | |
                    | the same through one stream intercept | %.1f ms, %.2f times | at most 1.3 times |
                    """.formatted(
                            Report.machine(),
                            ROUNDS,
                            base,
                            withObserver,
                            (withObserver / base - 1) * 100,
                            INTERCEPTS,
                            withHeaders,
                            withHeaders - base,
                            EVENTS,
                            untouched,
                            through,
                            through / untouched);
        }
    }

    private static double median(List<Double> values) {
        return median(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
