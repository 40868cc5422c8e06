package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Maker;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.User;

/** Daemon, client and provider on three hosts, TLS between them, of either maker; and the client's cable pulled out. */
@Timeout(400)
class RemoteDaemonTest {
    private static final int DAEMON = 1;
    private static final int CLIENT = 2;
    private static final int PROVIDER = 3;
    private static final String WORKER_PORT = "47700";
    private static final Duration LIMIT = Duration.ofSeconds(90);
    /**
     * Descriptors of the daemon's TLS clients, one for providers and one for workers, two of each; and the one that it keeps
     * back from its first connection on.
     */
    private static final int MADE_LATER = 5;

    private static final String ADDRESS = "https://" + Hosts.address(DAEMON) + ":47632";

    @TempDir
    Path folder;

    private final Hosts hosts = new Hosts(3);
    private final List<Proc> all = new ArrayList<>();
    private Certificates certificates;
    private User user;
    private Maker.Program client;
    private Proc daemon;
    private Descriptors atStart;
    private Proc harness;

    @BeforeEach
    void provider() {
        certificates = Certificates.make(folder, "IP:" + Hosts.address(DAEMON) + ",IP:" + Hosts.address(PROVIDER));
        user = User.self(folder.resolve("user"));
        start(hosts.on(
                        PROVIDER,
                        Proc.spec()
                                .command(
                                        "python3",
                                        Resource.file(folder, "provider.py"),
                                        "0.0.0.0",
                                        "443",
                                        folder.resolve("notes").toString(),
                                        certificates.certificate().toString(),
                                        certificates.key().toString())))
                .stdoutLine(0, LIMIT);
    }

    @AfterEach
    void close() {
        all.forEach(Proc::close);
        ProcessTable.mentioning(user.home().toString()).forEach(entry -> Scene.signal(entry.pid(), "KILL"));
        hosts.close();
    }

    private void begin(Maker daemons, Maker clients) throws Exception {
        prepare(daemons, clients);
        startClient();
    }

    private void prepare(Maker daemons, Maker clients) throws Exception {
        client = clients.configured(
                folder.resolve("tree"),
                "[upstream]\nanthropic_base_url = \"https://" + Hosts.address(PROVIDER) + "/worker\"\n",
                Scene.GOOD_PLUGINS);
        startDaemon(daemons);
    }

    private void startDaemon(Maker daemons) {
        daemon = start(hosts.on(
                DAEMON,
                User.self(folder.resolve("service"))
                        .spec(daemons.executable().toString(), "daemon", "--bind", "0.0.0.0")
                        .command("--advertise-address", ADDRESS)
                        .command("--tls-cert", certificates.certificate().toString())
                        .command("--tls-key", certificates.key().toString())
                        .env("NEMO_RELAY_ANTHROPIC_BASE_URL", "https://" + Hosts.address(PROVIDER))
                        .env("SSL_CERT_FILE", certificates.authority().toString())
                        .env("NEMO_RELAY_LOG", "info")));
        await("event=daemon_listening");
        atStart = Descriptors.of(daemon.pid());
    }

    /** A session of the user, until its worker serves; at once or after one before it. */
    private void startClient() throws Exception {
        long served = count("event=worker_added");
        launchClient();
        String answer = harness.stdoutLine(1, LIMIT);
        assertTrue(answer.contains("nemo-relay"), () -> answer + harness.transcript() + daemon.transcript());
        Await.until(
                () -> "a worker\n" + daemon.transcript() + harness.transcript(),
                Duration.ofSeconds(200),
                () -> count("event=worker_added") > served);
        await("endpoint=https://" + Hosts.address(CLIENT) + ":" + WORKER_PORT + " ");
    }

    private void launchClient() {
        harness = start(hosts.on(
                CLIENT,
                client.around()
                        .apply(user.withToken(
                                        "python3",
                                        Resource.file(folder, "harness.py"),
                                        client.executable().toString(),
                                        "daemon",
                                        "mcp",
                                        "--daemon-address",
                                        ADDRESS)
                                .env("SSL_CERT_FILE", certificates.authority().toString())
                                .env("NEMO_RELAY_WORKER_PORT", WORKER_PORT)
                                .env("NEMO_RELAY_LOG", "info"))));
    }

    @ParameterizedTest
    @CsvSource({"OURS, OURS", "OURS, STOCK", "STOCK, OURS"})
    void requestsAndHooksGoThroughAWorkerOnTheClientsHost(Maker daemons, Maker clients) throws Exception {
        goThrough(daemons, clients);
    }

    @Test
    @Tag("long")
    void theStockProgramAlone() throws Exception {
        goThrough(Maker.STOCK, Maker.STOCK);
    }

    private void goThrough(Maker daemons, Maker clients) throws Exception {
        begin(daemons, clients);
        Proc request = request("one", 3);
        assertEquals(0, request.awaitExit(LIMIT), request::transcript);
        List<String> lines = request.stdout()
                .lines()
                .map(line -> line.substring(line.indexOf(' ') + 1))
                // Header names have no case in HTTP/2, which is spoken in between.
                .map(line -> line.toLowerCase(java.util.Locale.ROOT))
                .filter(line -> !line.startsWith("date:"))
                .toList();
        int body = lines.indexOf("");
        assertEquals("http/1.1 200 ok", lines.getFirst());
        assertEquals(
                List.of(
                        "connection: close",
                        "content-type: text/event-stream",
                        "trailer: x-sum",
                        "transfer-encoding: chunked"),
                lines.subList(1, body).stream().sorted().toList());
        // Chunks may join on a busy machine. The stock daemon loses the trailer on its way from HTTP/2 to HTTP/1.1.
        assertEquals(
                daemons == Maker.OURS
                        ? List.of("data: 0", "data: 1", "data: 2", "x-sum: 3")
                        : List.of("data: 0", "data: 1", "data: 2"),
                lines.subList(body, lines.size()).stream()
                        .filter(line -> line.contains(": "))
                        .toList());
        assertEquals(
                "one /worker/v1/messages",
                Files.readString(folder.resolve("notes")).strip());
        Proc hook = start(hosts.on(
                CLIENT,
                user.withToken(client.executable().toString(), "daemon", "hook", "claude", "--daemon-address", ADDRESS)
                        .env("SSL_CERT_FILE", certificates.authority().toString())));
        hook.write("{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"x\",\"tool_name\":\"Bash\",\"tool_input\":{}}"
                .getBytes(java.nio.charset.StandardCharsets.UTF_8));
        hook.closeInput();
        assertEquals(0, hook.awaitExit(LIMIT), hook::transcript);
        assertEquals("{\"continue\":true}", hook.stdout());
        harness.writeLine("end");
        assertEquals(0, harness.awaitExit(LIMIT));
        assertTrue(harness.stdout().contains("exit 0"), harness::transcript);
        await("event=worker_removed");
    }

    @Test
    void aCutLinkIsSurvivedByTheWorkerAndByWhatItStreams() throws Exception {
        begin(Maker.OURS, Maker.OURS);
        Proc stream = request("stream", 100);
        stream.stdoutLine(12, LIMIT);
        hosts.link(CLIENT, false);
        pause(Duration.ofSeconds(25));
        hosts.link(CLIENT, true);
        assertEquals(0, stream.awaitExit(LIMIT), stream::transcript);
        assertTrue(stream.stdout().contains("x-sum: 100"), stream::transcript);
        Proc after = request("after", 1);
        assertEquals(0, after.awaitExit(LIMIT));
        assertEquals(
                "stream /worker/v1/messages\nafter /worker/v1/messages\n", Files.readString(folder.resolve("notes")));
        assertEquals(1, count("event=worker_added"), () -> "one worker all the time\n" + daemon.transcript());
    }

    /** 100 s: whoever asks is sure after 40 s, and gives up after 30 s more, on either side. */
    @Test
    @Tag("long")
    void aLinkThatIsCutForLongEndsTheWorkerAndTheNextOneServes() throws Exception {
        begin(Maker.OURS, Maker.OURS);
        Proc before = request("before", 1);
        assertEquals(0, before.awaitExit(LIMIT), before::transcript);
        hosts.link(CLIENT, false);
        long cut = System.nanoTime();
        Await.until(
                () -> "the worker notices\n" + harness.transcript(),
                Duration.ofSeconds(50),
                () -> harness.stderr().contains("event=worker_control_lost"));
        Await.until(
                () -> "worker and client give up\n" + harness.transcript(),
                Duration.ofSeconds(50),
                () -> harness.stderr().contains("reason=control_recovery_failed")
                        && harness.stderr().contains("control reconnect grace period of 30 s expired"));
        await("reason=control_disconnect_timeout");
        assertTrue(daemon.stderr().contains("reason=pong_timeout"), daemon::transcript);
        pause(Duration.ofSeconds(100).minusNanos(System.nanoTime() - cut));
        hosts.link(CLIENT, true);
        harness.close();
        // The daemon cannot know that its worker has ended, so the next one may have to wait for the end of its drain.
        startClient();
        Proc after = request("after", 1);
        assertEquals(0, after.awaitExit(LIMIT), after::transcript);
        assertEquals(
                "before /worker/v1/messages\nafter /worker/v1/messages\n", Files.readString(folder.resolve("notes")));
    }

    /** Sent when nobody knows yet that its worker cannot be reached; the link is back before the worker's time is over. */
    @Test
    @Tag("long")
    void aRequestThatWasSentIntoACutLinkEndsBeforeTheLinkIsBackAndTheWorkerStays() throws Exception {
        begin(Maker.OURS, Maker.OURS);
        List<Long> workers = pids("worker");
        Proc before = request("before", 1);
        assertEquals(0, before.awaitExit(LIMIT), before::transcript);
        hosts.link(CLIENT, false);
        Proc into = request(DAEMON, "into", 1);
        assertEquals(0, into.awaitExit(Duration.ofSeconds(52)), into::transcript);
        assertTrue(into.stdout().contains("HTTP/1.1 502"), into::transcript);
        hosts.link(CLIENT, true);
        awaitServed();
        assertEquals(workers, pids("worker"), harness::transcript);
        endsWell();
    }

    /** The client's cable is out for 25 s in each state, in which its host goes on with what it was doing. */
    @ParameterizedTest
    @EnumSource
    @Tag("long")
    void aCutLinkIsSurvivedInEveryState(State state) throws Exception {
        prepare(Maker.OURS, Maker.OURS);
        Scene.makeHoldable(client.executable());
        Path hold = client.executable().resolveSibling("hold");
        Path plugins = client.executable().resolve("../../etc/plugins.toml").normalize();
        switch (state) {
            case EMPTY -> {}
            case ACTIVATING -> {
                Distribution.write(hold, "");
                launchClient();
                await("event=mcp_added");
                Await.until(harness::transcript, LIMIT, () -> !pids("worker").isEmpty());
            }
            case PASS_THROUGH -> {
                Distribution.write(plugins, Scene.BROKEN_PLUGINS);
                launchClient();
                await("event=worker_activation_failed");
            }
            case READY, DRAINING, RECOVERING -> startClient();
        }
        Proc stream = request("stream", 200);
        stream.stdoutLine(8, LIMIT);
        if (state == State.DRAINING) {
            harness.writeLine("end");
            assertEquals(0, harness.awaitExit(LIMIT));
            launchClient();
            harness.stdoutLine(1, LIMIT);
        }
        hosts.link(CLIENT, false);
        if (state == State.RECOVERING) {
            daemon.close();
            startDaemon(Maker.OURS);
        }
        pause(Duration.ofSeconds(12));
        if (state == State.EMPTY) {
            launchClient();
        }
        Files.deleteIfExists(hold);
        Distribution.write(plugins, Scene.GOOD_PLUGINS);
        pause(Duration.ofSeconds(13));
        hosts.link(CLIENT, true);
        assertTrue(harness.stdoutLine(1, LIMIT).contains("nemo-relay"), harness::transcript);
        assertEquals(
                state == State.RECOVERING,
                stream.awaitExit(LIMIT) != 0 || !stream.stdout().contains("x-sum: 200"));
        awaitServed();
        assertEquals(1, pids("worker").size(), harness::transcript);
        List<String> ids = Files.readAllLines(folder.resolve("notes"));
        assertEquals(ids.stream().distinct().toList(), ids, "no request was submitted twice");
        endsWell();
    }

    /** Whoever is silent past its ping has lost its connection, and comes back to the worker that there is. */
    @ParameterizedTest
    @EnumSource(names = {"DAEMON", "MCP", "WORKER"})
    @Tag("long")
    void silenceForLongerThanAPingIsSurvived(Victim victim) throws Exception {
        begin(Maker.OURS, Maker.OURS);
        List<Long> workers = pids("worker");
        List<Long> silent = victim == Victim.DAEMON
                ? List.of(daemon.pid())
                : pids(victim == Victim.MCP ? "org.nemorelay.mcp.McpMain" : "worker");
        assertEquals(1, silent.size());
        // Nothing is being asked any more, so that the ping alone tells.
        pause(Duration.ofSeconds(6));
        Scene.signal(silent.getFirst(), "STOP");
        // 40 s after its last pong it counts as gone; a daemon is looked for for 30 s more, which begin after 10 s at
        // the least.
        pause(Duration.ofSeconds(victim == Victim.DAEMON ? 35 : 45));
        if (victim != Victim.DAEMON) {
            await("reason=pong_timeout");
        }
        Scene.signal(silent.getFirst(), "CONT");
        awaitServed();
        assertEquals(workers, pids("worker"), harness::transcript);
        endsWell();
    }

    private List<Long> pids(String argument) {
        return ProcessTable.mentioning(user.home().toString()).stream()
                .filter(entry -> entry.arguments().contains(argument))
                .map(ProcessTable.Entry::pid)
                .toList();
    }

    private void awaitServed() {
        AtomicInteger attempts = new AtomicInteger();
        Await.until(() -> harness.transcript() + daemon.transcript(), Duration.ofSeconds(200), () -> {
            String id = "served-" + attempts.incrementAndGet();
            return request(id, 1).awaitExit(LIMIT) == 0
                    && Files.readString(folder.resolve("notes")).contains(id + " /worker/");
        });
    }

    private void endsWell() {
        harness.writeLine("end");
        assertEquals(0, harness.awaitExit(LIMIT), harness::transcript);
        Await.until(
                () -> "nothing is left\n" + harness.transcript(),
                LIMIT,
                () -> ProcessTable.mentioning(user.home().toString()).isEmpty());
        await("event=worker_removed");
        Await.until(
                () -> "the daemon holds " + Descriptors.of(daemon.pid()) + ", at its start " + atStart,
                LIMIT,
                () -> Descriptors.of(daemon.pid()).closedWhatCameSince(atStart, 443, MADE_LATER));
    }

    private Proc request(String id, int events) {
        return request(CLIENT, id, events);
    }

    private Proc request(int host, String id, int events) {
        return start(hosts.on(
                host,
                Proc.spec()
                        .command("python3", Resource.file(folder, "client.py"), Hosts.address(DAEMON), "47632")
                        .command(certificates.authority().toString(), user.token(), id, Integer.toString(events))));
    }

    private Proc start(Proc.Spec spec) {
        Proc proc = spec.start();
        all.add(proc);
        return proc;
    }

    private void await(String text) {
        Await.until(
                () -> text + "\n" + daemon.transcript() + (harness == null ? "" : harness.transcript()),
                LIMIT,
                () -> daemon.stderr().contains(text));
    }

    private long count(String text) {
        return daemon.stderr().lines().filter(line -> line.contains(text)).count();
    }

    /** The time itself is what is tested. */
    private static void pause(Duration time) throws InterruptedException {
        Thread.sleep(time.isNegative() ? Duration.ZERO : time);
    }
}
