package org.nemorelay.it.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** The processes of one fleet, each with a configuration file of its own, over one NATS server. */
final class Fleet implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(60);
    static final String MODEL = "parrot";

    private final Path folder;
    private final NatsServer nats;
    private final String program;
    private final List<Proc> processes = new ArrayList<>();
    private final int port = freePort();

    Fleet(Path folder, NatsServer nats) {
        this(folder, nats, Distribution.tree().resolve("bin/nemo-relay").toString());
    }

    /** @param program of the installed tree that the roles run from */
    Fleet(Path folder, NatsServer nats, String program) {
        this.folder = folder;
        this.nats = nats;
        this.program = program;
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return port;
    }

    /** Two instances of the same carrier, so that there is something to change to. */
    String distributed() {
        return """
                [distributed]
                carrier = "main"

                [distributed.carriers.main]
                type = "nats"
                servers = ["%1$s"]

                [distributed.carriers.spare]
                type = "nats"
                servers = ["%1$s"]

                """.formatted(nats.url());
    }

    Proc.Spec command(String... words) {
        return Proc.spec()
                .command(program)
                .command(words)
                .env("HOME", folder.toString())
                .env("NEMO_RELAY_LOG", "info")
                .env("TMPDIR", folder.toString());
    }

    Path file(String name, String content) {
        try {
            return Files.writeString(folder.resolve(name), content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Proc start(String role, String name, String configuration) {
        Path config = file(name + ".toml", distributed() + configuration);
        Proc process = command("--config", config.toString(), role).start();
        processes.add(process);
        return process;
    }

    /** A role that nobody waits for. */
    Proc lone(String role, String configuration) {
        return start(role, role, configuration);
    }

    Proc frontend(String more) {
        Proc frontend = start("frontend", "frontend", """
                [frontend]
                port = %d
                %s
                [[frontend.models]]
                name = "%s"
                backend = "echo"
                """.formatted(port, more, MODEL));
        Await.until(
                () -> "the frontend listens\n" + frontend.transcript(),
                LIMIT,
                () -> get("/healthz").status() == 200);
        return frontend;
    }

    /** @param delayMs before each word of an answer */
    Proc node(String name, int delayMs) {
        Proc node = start(
                "node", name, """
                [node]
                name = "%s"
                frontend = "http://127.0.0.1:%d"
                heartbeat_ms = 300

                [node.backends.echo]
                command = ["%s", "backend", "echo", "--token-delay-ms", "%d"]
                """.formatted(name, port, Distribution.tree().resolve("bin/nemo-relay"), delayMs));
        Await.until(
                () -> "node " + name + " serves\n" + node.transcript(),
                LIMIT,
                () -> node.stderr().contains("node_serving") && linked(node));
        return node;
    }

    Proc agentWorker(String name) {
        Proc worker = start("agent-worker", name, """
                [agent_worker]
                name = "%s"
                frontend = "http://127.0.0.1:%d"
                heartbeat_ms = 300
                mcp_commands = ["sh"]
                """.formatted(name, port));
        Await.until(
                () -> "agent worker " + name + " serves\n" + worker.transcript(),
                LIMIT,
                () -> worker.stderr().contains("agent_worker_serving") && linked(worker));
        return worker;
    }

    /** A process serves before its link is there; what is sent meanwhile nobody hears. */
    private static boolean linked(Proc process) {
        return process.stderr().contains("carrier main: connected");
    }

    record Answer(int status, String text) {
        JsonObject json() {
            return Json.parseObject(text);
        }
    }

    Answer get(String path) {
        return http("GET", path, "", "");
    }

    Answer post(String path, Map<String, Object> body) {
        return http("POST", path, Json.write(body), "");
    }

    Answer http(String method, String path, String body, String bearer) {
        try {
            HttpURLConnection connection = (HttpURLConnection)
                    URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
            connection.setRequestMethod(method);
            connection.setReadTimeout((int) LIMIT.toMillis());
            if (!bearer.isEmpty()) {
                connection.setRequestProperty("Authorization", "Bearer " + bearer);
            }
            if (!body.isEmpty()) {
                connection.setDoOutput(true);
                connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
            }
            int status = connection.getResponseCode();
            var in = status < 400 ? connection.getInputStream() : connection.getErrorStream();
            return new Answer(status, in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Map<String, Object> chat(String content, boolean stream) {
        return Json.object(
                "model", MODEL, "stream", stream, "messages", List.of(Json.object("role", "user", "content", content)));
    }

    String answer(String content) {
        Answer answer = post("/v1/chat/completions", chat(content, false));
        if (answer.status() != 200) {
            throw new AssertionError(answer + transcripts());
        }
        return answer.json().objects("choices").getFirst().object("message").string("content");
    }

    /** Each node's state, by name. */
    String status(String name) {
        return node(name).string("status");
    }

    JsonObject node(String name) {
        return get("/api/nodes").json().objects("nodes").stream()
                .filter(node -> node.string("name").equals(name))
                .findFirst()
                .orElseThrow();
    }

    String transcripts() {
        StringBuilder all = new StringBuilder();
        processes.forEach(process -> all.append('\n').append(process.transcript()));
        return all.toString();
    }

    @Override
    public void close() {
        processes.forEach(Proc::close);
        nats.close();
    }
}
