package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/**
 * Two sessions of each of four users start in one moment, and something befalls them all while each has come as far as it
 * has: in a handshake, between registration and readiness, in the write of a generation, before an acknowledgement.
 */
@Timeout(900)
@Execution(ExecutionMode.SAME_THREAD)
class CrowdTest {
    private static final int USERS = 4;
    private static final int PAIR = 2;
    private static final Duration LIMIT = Duration.ofSeconds(240);

    @TempDir
    Path folder;

    private final List<Member> members = new ArrayList<>();
    private final List<Proc> all = new CopyOnWriteArrayList<>();
    private final int daemonPort = Relay.freePort();
    private final int providerPort = Relay.freePort();
    private Path notes;
    private Maker.Program program;
    private User service;
    private Relay daemon;
    private int asked;

    private record Member(User user, List<Proc> harnesses) {
        /** Whether no client is there or starting. */
        boolean left() {
            return processes("mcp").isEmpty()
                    && harnesses.stream()
                            .allMatch(harness ->
                                    !harness.alive() || harness.stdout().lines().count() > 1);
        }

        List<ProcessTable.Entry> processes(String role) {
            return ProcessTable.mentioning(user.home().toString()).stream()
                    .filter(entry -> entry.arguments().contains(role)
                            || role.equals("mcp") && entry.arguments().contains("org.nemorelay.mcp.McpMain"))
                    .filter(entry -> entry.arguments().stream().noneMatch(argument -> argument.endsWith("harness.py")))
                    .toList();
        }
    }

    /** What befalls them. */
    enum Blow {
        DAEMON_KILLED,
        DAEMON_SUSPENDED,
        CLIENTS_KILLED,
        CLIENTS_SUSPENDED,
        WORKERS_KILLED,
        WORKERS_SUSPENDED
    }

    @BeforeEach
    void begin() {
        notes = folder.resolve("notes");
        String origin = "http://127.0.0.1:" + providerPort;
        start(Proc.spec()
                        .command("python3", Resource.file(folder, "provider.py"), "127.0.0.1", "" + providerPort)
                        .command(notes.toString()))
                .stdoutLine(0, LIMIT);
        program =
                Maker.OURS.configured(folder.resolve("tree"), Relay.upstreamToml(origin + "/worker"), "version = 1\n");
        service = User.self(folder.resolve("service"));
        for (int i = 0; i < USERS; i++) {
            members.add(new Member(User.self(folder.resolve("user-" + i)), new CopyOnWriteArrayList<>()));
        }
        startDaemon();
    }

    @AfterEach
    void end() {
        all.forEach(Proc::close);
        ProcessTable.mentioning(folder.toString()).forEach(entry -> Scene.signal(entry.pid(), "KILL"));
    }

    @ParameterizedTest
    @EnumSource
    @Tag("long")
    void everyUserIsServedByOneWorkerInTheEnd(Blow blow) throws Exception {
        Set<String> kept = new TreeSet<>();
        for (int ms : new int[] {200, 800, 1_500, 2_500}) {
            round(blow, ms);
            if (kept.isEmpty()) {
                kept.addAll(files());
            }
        }
        assertEquals(kept, files(), "nothing half written is left");
    }

    private void round(Blow blow, int ms) throws Exception {
        Descriptors atStart = Descriptors.of(daemon.process().pid());
        startPairs();
        // The moment is what is tested.
        Thread.sleep(ms);
        strike(blow);
        for (Member member : members) {
            Await.until(() -> "one worker\n" + transcript(member), LIMIT, () -> {
                if (member.left()) {
                    // On a machine so busy that the clients have given up within 30 s the user begins anew.
                    startSession(member);
                }
                return member.processes("worker").size() == 1 && servedByWorker(member);
            });
        }
        for (Member member : members) {
            for (Proc harness : member.harnesses) {
                if (harness.alive()) {
                    harness.writeLine("end");
                }
            }
        }
        for (Member member : members) {
            Await.until(
                    () -> "nothing is left\n" + transcript(member),
                    LIMIT,
                    () -> ProcessTable.mentioning(member.user.home().toString()).isEmpty());
            member.harnesses.clear();
        }
        Await.until(daemon.process()::transcript, LIMIT, () -> daemon.workers().isEmpty());
        List<String> ids = notes();
        assertEquals(ids.stream().distinct().toList(), ids, "no request was submitted twice");
        if (blow != Blow.DAEMON_KILLED) {
            Await.until(
                    () -> "the daemon holds " + Descriptors.of(daemon.process().pid()) + ", before " + atStart,
                    LIMIT,
                    () -> Descriptors.of(daemon.process().pid()).closedWhatCameSince(atStart, providerPort));
        }
    }

    private void strike(Blow blow) throws Exception {
        switch (blow) {
            case DAEMON_KILLED -> killDaemon();
            case DAEMON_SUSPENDED -> pause(List.of(daemon.process().pid()));
            case CLIENTS_KILLED ->
                members.forEach(member ->
                        member.processes("mcp").stream().limit(1).forEach(entry -> Scene.signal(entry.pid(), "KILL")));
            case CLIENTS_SUSPENDED -> pause(pids("mcp"));
            case WORKERS_KILLED -> pids("worker").forEach(pid -> Scene.signal(pid, "KILL"));
            case WORKERS_SUSPENDED -> pause(pids("worker"));
        }
    }

    private List<Long> pids(String role) {
        return members.stream()
                .flatMap(member -> member.processes(role).stream())
                .map(ProcessTable.Entry::pid)
                .toList();
    }

    /** For longer than an acknowledgement and an attempt may take. */
    private static void pause(List<Long> pids) throws InterruptedException {
        pids.forEach(pid -> Scene.signal(pid, "STOP"));
        Thread.sleep(8_000);
        pids.forEach(pid -> Scene.signal(pid, "CONT"));
    }

    private void killDaemon() {
        Scene.signal(daemon.process().pid(), "KILL");
        daemon.process().awaitExit(LIMIT);
        startDaemon();
    }

    private void startDaemon() {
        String origin = "http://127.0.0.1:" + providerPort;
        daemon = Relay.start(
                daemonPort,
                service.spec(program.executable().toString(), "daemon", "--port", "" + daemonPort)
                        .env("NEMO_RELAY_ANTHROPIC_BASE_URL", origin)
                        .env("NEMO_RELAY_LOG", "info"));
        all.add(daemon.process());
    }

    private void startPairs() throws Exception {
        CyclicBarrier together = new CyclicBarrier(USERS * PAIR);
        List<Thread> threads = new ArrayList<>();
        for (Member member : members) {
            for (int i = 0; i < PAIR; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        together.await();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                    startSession(member);
                }));
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void startSession(Member member) {
        Proc harness = start(member.user
                .withToken("python3", Resource.file(folder, "harness.py"))
                .command(program.executable().toString(), "daemon", "mcp", "--daemon-address")
                .command(daemon.address())
                .env("NEMO_RELAY_LOG", "info"));
        member.harnesses.add(harness);
    }

    private boolean servedByWorker(Member member) throws IOException {
        String id = "request-" + ++asked;
        RawHttp.Answer answer = RawHttp.post(
                daemonPort,
                "/v1/messages",
                "{}",
                member.user.header(),
                "x-request-id: " + id,
                "content-type: application/json");
        return answer.status() == 200 && Files.readString(notes).contains(id + " /worker/v1/messages");
    }

    private List<String> notes() throws IOException {
        return Files.readAllLines(notes).stream()
                .map(line -> line.substring(0, line.indexOf(' ')))
                .toList();
    }

    /** What the relay keeps on the disk for daemon and users. */
    private Set<String> files() throws IOException {
        Set<String> files = new TreeSet<>();
        for (User user : Stream.concat(Stream.of(service), members.stream().map(Member::user))
                .toList()) {
            try (Stream<Path> found = Files.walk(user.home())) {
                found.map(file -> folder.relativize(file).toString()).forEach(files::add);
            }
        }
        return files;
    }

    private Proc start(Proc.Spec spec) {
        Proc proc = spec.start();
        all.add(proc);
        return proc;
    }

    private String transcript(Member member) {
        StringBuilder text =
                new StringBuilder(ProcessTable.mentioning(member.user.home().toString()) + "\n");
        member.harnesses.forEach(harness -> text.append(harness.transcript()).append('\n'));
        return text.append(daemon.process().transcript()).toString();
    }
}
