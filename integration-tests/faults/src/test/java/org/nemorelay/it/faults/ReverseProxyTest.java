package org.nemorelay.it.faults;

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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Relay;
import org.nemorelay.it.Requirement;
import org.nemorelay.it.User;

/** HAProxy in front of the daemon, with the configuration of docs/remote.md: upgrades, trailers, streams, addresses. */
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

    @BeforeEach
    void start() throws IOException {
        Requirement.of(
                Files.isExecutable(Path.of("/usr/sbin/haproxy")), "no /usr/sbin/haproxy: install the package haproxy");
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
        String documented = documented()
                .replace(":443 ", "127.0.0.1:" + port + " ")
                .replace("/etc/haproxy/relay.pem", pem.toString())
                .replace("127.0.0.1:47632", "127.0.0.1:" + daemonPort);
        Path configuration = Files.writeString(folder.resolve("haproxy.cfg"), documented);
        Proc proxy = keep(Proc.spec().command("/usr/sbin/haproxy", "-db", "-f", configuration.toString()));
        Await.until(proxy::transcript, LIMIT, () -> {
            new Socket(InetAddress.getLoopbackAddress(), port).close();
            return true;
        });
    }

    /** What docs/remote.md tells an administrator to write. */
    private static String documented() throws IOException {
        Path docs = Distribution.tree().resolve("../../../docs/remote.md").normalize();
        StringBuilder text = new StringBuilder();
        boolean within = false;
        for (String line : Files.readAllLines(docs)) {
            within = within && (line.isEmpty() || line.startsWith("    ")) || line.equals("    defaults");
            if (within) {
                text.append(line).append('\n');
            }
        }
        assertTrue(text.toString().contains("default_backend"), text::toString);
        return text.toString();
    }

    @AfterEach
    void close() {
        all.forEach(Proc::close);
        ProcessTable.mentioning(user.home().toString()).forEach(entry -> Scene.signal(entry.pid(), "KILL"));
    }

    @Test
    void upgradesTrailersAndUnbufferedStreamsPass() throws Exception {
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
    }

    @Test
    void case39ProxiedClientsAreCountedByTheirOwnAddress() {
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
