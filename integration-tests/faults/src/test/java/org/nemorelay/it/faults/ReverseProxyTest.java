package org.nemorelay.it.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Relay;
import org.nemorelay.it.Requirement;
import org.nemorelay.it.User;

/** A proxy in front of the daemon, with its configuration of docs/remote.md: upgrades, trailers, streams, addresses. */
@Timeout(300)
class ReverseProxyTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private final int port = Relay.freePort();
    private final List<Proc> all = new ArrayList<>();
    private final int providerPort = Relay.freePort();
    private Certificates certificates;
    private User user;
    private Relay daemon;

    /** What stands between clients and daemon. */
    enum Proxy {
        HAPROXY("haproxy", "    defaults") {
            @Override
            Proc.Spec start(Path folder, String documented) throws IOException {
                Path file = Files.writeString(folder.resolve("haproxy.cfg"), documented);
                return Proc.spec().command("/usr/sbin/haproxy", "-db", "-f", file.toString());
            }
        },
        NGINX("nginx", "    server {") {
            @Override
            Proc.Spec start(Path folder, String documented) throws IOException {
                Path own = Files.createDirectories(folder.resolve("nginx"));
                Path file = Files.writeString(own.resolve("nginx.conf"), """
                        daemon off;
                        pid %1$s/pid;
                        error_log stderr;
                        events {}
                        http {
                        access_log off;
                        client_body_temp_path %1$s/body;
                        proxy_temp_path %1$s/proxy;
                        fastcgi_temp_path %1$s/fastcgi;
                        uwsgi_temp_path %1$s/uwsgi;
                        scgi_temp_path %1$s/scgi;
                        %2$s}
                        """.formatted(own, documented));
                return Proc.spec().command("/usr/sbin/nginx", "-e", "stderr", "-c", file.toString());
            }
        };

        private final String command;
        private final String firstLine;

        Proxy(String command, String firstLine) {
            this.command = command;
            this.firstLine = firstLine;
        }

        abstract Proc.Spec start(Path folder, String documented) throws IOException;
    }

    private void start(Proxy kind) throws IOException {
        Path executable = Path.of("/usr/sbin", kind.command);
        Requirement.of(Files.isExecutable(executable), "no " + executable + ": install " + kind.command);
        certificates = Certificates.make(folder, "DNS:localhost");
        user = User.self(folder.resolve("user"));
        keep(Proc.spec()
                        .command("python3", Resource.file(folder, "provider.py"), "127.0.0.1", "" + providerPort)
                        .command(folder.resolve("notes").toString()))
                .stdoutLine(0, LIMIT);
        Path settings = folder.resolve("daemon.toml");
        Distribution.write(settings, "[daemon]\ntrusted_proxies = \"127.0.0.1\"\nupgrades_per_address = 16\n");
        int daemonPort = Relay.freePort();
        daemon = Relay.start(
                daemonPort,
                User.self(folder.resolve("service"))
                        .spec(Distribution.tree().resolve("bin/nemo-relay").toString())
                        .command("--config", settings.toString(), "daemon", "--port", "" + daemonPort)
                        .command("--advertise-address", "https://localhost:" + port)
                        .env("NEMO_RELAY_ANTHROPIC_BASE_URL", "http://127.0.0.1:" + providerPort)
                        .env("NEMO_RELAY_LOG", "info"));
        all.add(daemon.process());
        Path pem = folder.resolve("relay.pem");
        Files.writeString(pem, Files.readString(certificates.certificate()) + Files.readString(certificates.key()));
        String documented = documented(kind.firstLine)
                .replaceFirst("(bind :|listen )443 ", "$1" + port + " ")
                .replaceAll("/etc/(haproxy|nginx)/relay.pem", pem.toString())
                .replace("127.0.0.1:47632", "127.0.0.1:" + daemonPort);
        Proc proxy = keep(kind.start(folder, documented));
        Await.until(proxy::transcript, LIMIT, () -> {
            new Socket(InetAddress.getLoopbackAddress(), port).close();
            return true;
        });
    }

    /** What docs/remote.md tells an administrator to write: the block that begins so. */
    private static String documented(String firstLine) throws IOException {
        Path docs = Distribution.tree().resolve("../../../docs/remote.md").normalize();
        String text = Files.readAllLines(docs).stream()
                .dropWhile(line -> !line.equals(firstLine))
                .takeWhile(line -> line.isEmpty() || line.startsWith("    "))
                .map(line -> line + "\n")
                .collect(Collectors.joining());
        assertTrue(text.contains("127.0.0.1:47632"), text);
        return text;
    }

    @AfterEach
    void close() {
        all.forEach(Proc::close);
        ProcessTable.mentioning(user.home().toString()).forEach(entry -> Scene.signal(entry.pid(), "KILL"));
    }

    @ParameterizedTest
    @EnumSource
    void upgradesTrailersAndUnbufferedStreamsPass(Proxy kind) throws Exception {
        start(kind);
        Path executable = Distribution.privateTree(
                        folder.resolve("tree"),
                        Relay.upstreamToml("http://127.0.0.1:" + providerPort + "/worker"),
                        "version = 1\n")
                .resolve("bin/nemo-relay");
        Proc harness = keep(user.withToken("python3", Resource.file(folder, "harness.py"))
                .command(executable.toString(), "daemon", "mcp", "--daemon-address", "https://localhost:" + port)
                .env("SSL_CERT_FILE", certificates.authority().toString())
                .env("NEMO_RELAY_LOG", "info"));
        String answer = harness.stdoutLine(1, LIMIT);
        assertTrue(answer.contains("nemo-relay"), () -> answer + harness.transcript());
        Await.until(
                () -> "a worker\n" + daemon.process().transcript() + harness.transcript(),
                LIMIT,
                () -> daemon.process().stderr().contains("event=worker_added"));
        Proc request = keep(Proc.spec()
                .command("python3", Resource.file(folder, "client.py"), "localhost", "" + port)
                .command(certificates.authority().toString(), user.token(), "one", "40"));
        Await.until(request::transcript, LIMIT, () -> request.stdout().contains("data: 0"));
        assertTrue(
                !request.stdout().contains("data: 39"),
                () -> "the first event waited for the last\n" + request.stdout());
        assertEquals(0, request.awaitExit(LIMIT), request::transcript);
        assertTrue(request.stdout().contains("x-sum: 40"), () -> "the trailer is lost\n" + request.stdout());
        assertEquals(
                "one /worker/v1/messages",
                Files.readString(folder.resolve("notes")).strip());
        String hook = ask("POST /hooks/claude-code HTTP/1.1", "content-type: application/json", "content-length: 2");
        assertTrue(hook.startsWith("HTTP/1.1 200") && hook.endsWith("{\"continue\":true}"), hook);
        String probe = ask(
                "GET /v1/responses HTTP/1.1",
                "upgrade: websocket",
                "sec-websocket-version: 13",
                "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==");
        assertTrue(probe.startsWith("HTTP/1.1 426"), () -> "an agent's WebSocket probe\n" + probe);
    }

    /** The answer to a request with this head, and with an empty JSON object where it has a length. */
    private String ask(String... head) {
        List<String> lines = new ArrayList<>(List.of(head));
        boolean upgrade = lines.contains("upgrade: websocket");
        lines.addAll(List.of("host: localhost:" + port, upgrade ? "connection: upgrade, close" : "connection: close"));
        Proc.Result answer = Proc.spec()
                .command("python3", Resource.file(folder, "ask.py"), "localhost", "" + port)
                .command(certificates.authority().toString())
                .run((String.join("\r\n", lines) + "\r\n\r\n" + (upgrade ? "" : "{}")).getBytes(UTF_8), LIMIT);
        assertEquals(0, answer.exit(), answer::stderr);
        return answer.stdout();
    }

    @ParameterizedTest
    @EnumSource
    void case39ProxiedClientsAreCountedByTheirOwnAddress(Proxy kind) throws IOException {
        start(kind);
        String sixteen = "101 ".repeat(16);
        assertEquals((sixteen + "429").strip(), upgrades("127.0.0.5", 17));
        assertEquals("101", upgrades("127.0.0.6", 1), "another client of the same proxy");
    }

    private String upgrades(String source, int count) {
        Proc attempts = keep(Proc.spec()
                .command("python3", Resource.file(folder, "upgrade.py"), "localhost", "" + port)
                .command(certificates.authority().toString(), source, "" + count));
        assertEquals(0, attempts.awaitExit(LIMIT), attempts::transcript);
        return attempts.stdout().strip();
    }

    private Proc keep(Proc.Spec spec) {
        Proc proc = spec.start();
        all.add(proc);
        return proc;
    }
}
