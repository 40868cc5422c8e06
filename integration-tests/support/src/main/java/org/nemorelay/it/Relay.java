package org.nemorelay.it;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** A running daemon of a tree, ours or the stock one, on a free port. */
public final class Relay implements AutoCloseable {
    private static final int LOWEST_PORT = 10_000;
    private static final int LOWEST_EPHEMERAL_PORT = 32_768;

    private final Proc daemon;
    private final int port;

    private Relay(Proc daemon, int port) {
        this.daemon = daemon;
        this.port = port;
    }

    /** Starts {@code executable daemon --port FREE MORE} as this user and waits until it serves. */
    public static Relay start(User user, Path executable, Proc.Spec environment, String... more) {
        return start(freePort(), user, executable, environment, more);
    }

    /** The same on this port. */
    public static Relay start(int port, User user, Path executable, Proc.Spec environment, String... more) {
        Proc.Spec spec = user.spec(executable.toString(), "daemon", "--port", Integer.toString(port))
                .command(more);
        return start(port, spec.env(environment.environment()));
    }

    /** Starts a daemon that listens on this port, as specified, and waits until it serves. */
    public static Relay start(int port, Proc.Spec spec) {
        Relay relay = new Relay(spec.start(), port);
        Await.until("the daemon serves /healthz", Duration.ofSeconds(90), () -> {
            if (!relay.daemon.alive()) {
                throw new AssertionError("the daemon ended with status "
                        + relay.daemon.awaitExit(Duration.ofSeconds(10)) + "\n" + relay.daemon.transcript());
            }
            return RawHttp.get(port, "/healthz").status() == 200;
        });
        return relay;
    }

    /** The bases of both provider families point to this provider. */
    public static Proc.Spec upstream(MockProvider provider) {
        return Proc.spec()
                .env("NEMO_RELAY_ANTHROPIC_BASE_URL", provider.origin())
                .env("NEMO_RELAY_OPENAI_BASE_URL", provider.origin() + "/v1")
                .env("NEMO_RELAY_LOG", "info");
    }

    /** {@code config.toml} of a worker whose provider this is. */
    public static String upstreamToml(MockProvider provider) {
        return upstreamToml(provider.origin());
    }

    /** The same for any base URL. */
    public static String upstreamToml(String base) {
        return "[upstream]\nanthropic_base_url = \"" + base + "\"\nopenai_base_url = \"" + base
                + "/v1\"\n[logging]\nlevel = \"info\"\n";
    }

    /** {@code plugins.toml} with the observability plugin that writes to this folder. */
    public static String observabilityToml(Path folder) {
        return """
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
                """.formatted(folder);
    }

    /**
     * A port that nobody listens on, and that no outgoing connection is given in the time until somebody does: one below the
     * system's range for those, so that it stays free for a daemon that is ended and started again.
     */
    public static int freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST_PORT, LOWEST_EPHEMERAL_PORT);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException taken) {
                // The next one.
            }
        }
    }

    public int port() {
        return port;
    }

    public String address() {
        return "http://127.0.0.1:" + port;
    }

    public Proc process() {
        return daemon;
    }

    /** The workers as the public status path tells them. */
    public List<JsonObject> workers() {
        return Json.parseObject(
                        RawHttp.get(port, "/_nemo_relay/v1/workers/status").body())
                .objects("workers");
    }

    /** Waits for a ready worker; the sessions are those that may have started it, for the failure's text. */
    public String awaitReadyWorker(McpSession... sessions) {
        return Await.value(
                () -> Stream.concat(
                                Stream.of("a ready worker", daemon.transcript()),
                                Stream.of(sessions)
                                        .map(session -> session.process().transcript()))
                        .collect(Collectors.joining("\n")),
                Duration.ofSeconds(60),
                () -> workers().stream()
                        .filter(worker -> worker.string("state").equals("ready"))
                        .map(worker -> worker.string("worker_id"))
                        .findFirst()
                        .orElse(null));
    }

    public void awaitNoWorker(Duration limit) {
        Await.until(
                () -> "no worker is left of " + workers() + "\n" + daemon.transcript(),
                limit,
                () -> workers().isEmpty());
    }

    @Override
    public void close() {
        daemon.signal("TERM");
        try {
            daemon.awaitExit(Duration.ofSeconds(10));
        } finally {
            daemon.close();
        }
    }
}
