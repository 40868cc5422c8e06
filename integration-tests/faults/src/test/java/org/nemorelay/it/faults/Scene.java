package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Maker;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.json.JsonObject;

/**
 * One user's daemon, harnesses, workers and provider, each a process that can be killed and started again, on ports and in
 * folders of their own. The provider notes each request with its id before it answers.
 */
final class Scene implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(60);
    /** What ends in a grace of 30 s and a drain of two minutes, with starts of processes on a busy machine. */
    private static final Duration SETTLED = Duration.ofSeconds(240);

    static final String GOOD_PLUGINS = "version = 1\n";
    static final String BROKEN_PLUGINS = "version = 1\n[[components]]\nkind = \"nobody_provides_this\"\n";

    private final Maker maker;
    private final Path folder;
    private final User user;
    private final Maker.Program program;
    private final int daemonPort = Relay.freePort();
    private final int providerPort = Relay.freePort();
    private final Map<String, String> daemons;
    private final Map<String, String> clients;
    final Traffic traffic;
    private final List<Proc> harnesses = new ArrayList<>();
    private final List<Proc> all = new CopyOnWriteArrayList<>();
    private Proc provider;
    private Relay daemon;
    /** Of the daemon that runs. */
    private Descriptors atStart;

    private Set<Long> before = Set.of();
    /** What workers and clients held at that time, where they had all come to their work. */
    private Map<Long, Descriptors> held = Map.of();

    private final Set<Long> stoppedWorkers = new HashSet<>();

    private OptionalLong killedAt = OptionalLong.empty();
    private Duration away = Duration.ZERO;

    Scene(Path folder, Maker maker) {
        this(folder, maker, Map.of(), Map.of());
    }

    /**
     * @param daemons more of the daemon's environment
     * @param clients more of the environment of harnesses, and so of what they start
     */
    Scene(Path folder, Maker maker, Map<String, String> daemons, Map<String, String> clients) {
        this.maker = maker;
        this.folder = folder;
        this.daemons = daemons;
        this.clients = clients;
        user = User.self(folder.resolve("home"));
        traffic = new Traffic(user, daemonPort, folder.resolve("notes"), this::transcript);
        program = maker.configured(
                folder.resolve("tree"),
                Relay.upstreamToml("http://127.0.0.1:" + providerPort + "/worker"),
                GOOD_PLUGINS);
        if (maker == Maker.OURS) {
            makeHoldable(program.executable());
        }
        startProvider();
        startDaemon();
    }

    // ---- the processes

    Relay daemon() {
        return daemon;
    }

    User user() {
        return user;
    }

    int port() {
        return daemonPort;
    }

    Path executable() {
        return program.executable();
    }

    void startProvider() {
        provider = Proc.spec()
                .command(
                        "python3",
                        Resource.file(folder, "provider.py"),
                        "127.0.0.1",
                        Integer.toString(providerPort),
                        traffic.notesFile().toString())
                .start();
        all.add(provider);
        provider.stdoutLine(0, LIMIT);
    }

    void startDaemon() {
        String origin = "http://127.0.0.1:" + providerPort;
        daemon = Relay.start(
                daemonPort,
                Proc.spec()
                        .command(program.executable().toString(), "daemon", "--port", Integer.toString(daemonPort))
                        .env(daemons)
                        .env("HOME", user.home().toString())
                        .env("NEMO_RELAY_ANTHROPIC_BASE_URL", origin)
                        .env("NEMO_RELAY_OPENAI_BASE_URL", origin + "/v1")
                        .env("NEMO_RELAY_LOG", "info"));
        all.add(daemon.process());
        atStart = descriptors();
        if (killedAt.isPresent()) {
            away = Duration.ofNanos(System.nanoTime() - killedAt.getAsLong());
        }
    }

    /** Starts a session and waits until it is initialized. */
    Proc startHarness() {
        Proc harness = launchHarness();
        awaitInitialized(harness);
        return harness;
    }

    /** Starts a session, whose client may be held. */
    Proc launchHarness() {
        Proc.Spec spec = user.withToken(
                        "setsid",
                        "python3",
                        Resource.file(folder, "harness.py"),
                        "sh",
                        "-c",
                        "while [ -e \"$0\" ]; do sleep 0.1; done; exec \"$@\"",
                        heldClients().toString(),
                        program.executable().toString(),
                        "daemon",
                        "mcp",
                        "--daemon-address",
                        daemon.address())
                .env(clients)
                .env("NEMO_RELAY_LOG", "info");
        Proc harness = program.around().apply(spec).start();
        all.add(harness);
        harnesses.add(harness);
        return harness;
    }

    /** Until the client of a session that was launched has a connection with the daemon, which may be suspended. */
    void awaitConnectedClient() {
        Await.until(
                this::transcript,
                LIMIT,
                () -> mcps().stream()
                        .anyMatch(entry -> Descriptors.of(entry.pid())
                                .connected()
                                .contains(Descriptors.ESTABLISHED + daemonPort)));
    }

    private static void awaitInitialized(Proc harness) {
        String answer = harness.stdoutLine(1, LIMIT);
        assertTrue(answer.contains("nemo-relay"), () -> answer + "\n" + harness.transcript());
    }

    /** The last harness that was started. */
    Proc harness() {
        return harnesses.getLast();
    }

    /** Ends every session as a harness does at best. */
    void endHarnesses() {
        for (Proc harness : harnesses) {
            if (harness.alive()) {
                harness.writeLine("end");
                harness.awaitExit(LIMIT);
            }
        }
        harnesses.clear();
    }

    List<ProcessTable.Entry> workers() {
        return role("worker");
    }

    List<ProcessTable.Entry> mcps() {
        return role("mcp").stream()
                .filter(entry -> entry.arguments().stream().noneMatch(argument -> argument.endsWith("harness.py")))
                .toList();
    }

    private List<ProcessTable.Entry> processes() {
        return ProcessTable.mentioning(user.home().toString());
    }

    private List<ProcessTable.Entry> role(String role) {
        return processes().stream()
                .filter(entry -> entry.arguments().contains(role)
                        || role.equals("mcp") && entry.arguments().contains("org.nemorelay.mcp.McpMain"))
                .toList();
    }

    void kill(Victim victim) {
        switch (victim) {
            case DAEMON -> {
                killedAt = OptionalLong.of(System.nanoTime());
                kill(daemon.process());
            }
            case PROVIDER -> kill(provider);
            case HARNESS -> harnesses.forEach(Scene::kill);
            case MCP -> mcps().forEach(entry -> signal(entry.pid(), "KILL"));
            case WORKER -> signalWorkers("KILL");
        }
    }

    /** Who was stopped goes on even if it is no worker by its arguments any more: a shell's child that has become a program. */
    void signalWorkers(String name) {
        Set<Long> pids = workerPids();
        if (name.equals("STOP")) {
            stoppedWorkers.addAll(pids);
        } else if (name.equals("CONT")) {
            pids.addAll(stoppedWorkers);
            stoppedWorkers.clear();
        }
        pids.forEach(pid -> signal(pid, name));
    }

    void suspend(Victim victim, boolean stopped) {
        String name = stopped ? "STOP" : "CONT";
        switch (victim) {
            case DAEMON -> signal(daemon.process().pid(), name);
            case PROVIDER -> signal(provider.pid(), name);
            case HARNESS -> harnesses.forEach(harness -> signal(harness.pid(), name));
            case MCP -> mcps().forEach(entry -> signal(entry.pid(), name));
            case WORKER -> signalWorkers(name);
        }
    }

    private static void kill(Proc process) {
        signal(process.pid(), "KILL");
        process.awaitExit(LIMIT);
    }

    static void signal(long pid, String name) {
        try {
            new ProcessBuilder("kill", "-" + name, "--", Long.toString(pid))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // ---- clients and workers that do not start

    private Path heldClients() {
        return folder.resolve("hold");
    }

    void holdClients() {
        touch(heldClients(), "");
    }

    /** Workers of this program wait at their start for as long as there is a file {@code hold} beside it. */
    static void makeHoldable(Path executable) {
        try {
            Files.move(executable, executable.resolveSibling("nemo-relay.real"));
            Files.writeString(executable, """
                    #!/bin/sh
                    case "${1-} ${2-}" in 'daemon worker')
                        while [ -e "${0%/*}/hold" ]; do sleep 0.1; done
                        [ ! -e "${0%/*}/worker.env" ] || . "${0%/*}/worker.env" ;;
                    esac
                    exec "${0%/*}/nemo-relay.real" "$@"
                    """);
            Files.setPosixFilePermissions(executable, PosixFilePermissions.fromString("rwxr-xr-x"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Workers of our program that start from now on have this in their environment, beside what they inherit. */
    void workersEnvironment(Map<String, String> environment) {
        touch(
                program.executable().resolveSibling("worker.env"),
                environment.entrySet().stream()
                        .map(entry -> "export " + entry.getKey() + "='" + entry.getValue() + "'\n")
                        .collect(Collectors.joining()));
    }

    void holdWorkers() {
        touch(program.executable().resolveSibling("hold"), "");
    }

    void breakWorkers() {
        plugins(BROKEN_PLUGINS);
    }

    private void plugins(String text) {
        switch (maker) {
            case OURS ->
                touch(program.executable().resolve("../../etc/plugins.toml").normalize(), text);
            case STOCK -> {
                // For the next session, and in the private /etc of those that run.
                touch(folder.resolve("tree/etc/plugins.toml"), text);
                mcps().forEach(mcp -> touch(Path.of("/proc", mcp.pid() + "/root/etc/nemo-relay/plugins.toml"), text));
            }
        }
    }

    private static void touch(Path file, String text) {
        try {
            Distribution.write(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // ---- the route

    String daemonLog() {
        return daemon.process().stderr();
    }

    List<String> states() {
        return daemon.workers().stream().map(worker -> worker.string("state")).toList();
    }

    void awaitReady() {
        Await.until(this::transcript, SETTLED, this::ready);
    }

    private boolean ready() {
        List<JsonObject> workers = daemon.workers();
        return workers.size() == 1
                && workers.getFirst().string("state").equals("ready")
                && workers.getFirst().bool("control_available");
    }

    // ---- the end

    /** Starts again what a supervisor, an administrator or a user would start, and lets go what was held. */
    void mend() {
        supervise();
        letGo();
        if (mcps().isEmpty()) {
            startHarness();
        }
    }

    /** Starts services again. */
    void supervise() {
        if (!provider.alive()) {
            startProvider();
        }
        if (!daemon.process().alive()) {
            startDaemon();
        }
    }

    /** Whether there was no daemon for about as long as clients and workers wait for it, 30 s. */
    boolean daemonWasAwayForTheGrace() {
        return away.compareTo(Duration.ofSeconds(25)) > 0;
    }

    /** Whatever was held or kept from starting goes on. */
    void letGo() {
        try {
            Files.deleteIfExists(heldClients());
            Files.deleteIfExists(program.executable().resolveSibling("hold"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        plugins(GOOD_PLUGINS);
        signalWorkers("CONT");
    }

    /** Keeps in mind which processes of workers there are before the kill; its start script may have some beside it. */
    void remember() {
        before = workerPids();
        held = ready()
                ? Stream.concat(workers().stream(), mcps().stream())
                        .map(ProcessTable.Entry::pid)
                        .collect(Collectors.toMap(pid -> pid, Descriptors::of))
                : Map.of();
    }

    private Set<Long> workerPids() {
        return workers().stream().map(ProcessTable.Entry::pid).collect(Collectors.toCollection(HashSet::new));
    }

    /** Nobody helps: the route, its processes and its clients come to this by themselves. */
    void await(Fault.Ending ending) {
        if (ending == Fault.Ending.NOBODY) {
            Await.until(
                    () -> "nobody is left of " + workers() + mcps() + "\n" + transcript(),
                    SETTLED,
                    () -> workers().isEmpty()
                            && mcps().isEmpty()
                            && daemon.workers().isEmpty());
            return;
        }
        Await.until(() -> ending + " of " + before + " and now " + workers() + "\n" + transcript(), SETTLED, () -> {
            Set<Long> now = workerPids();
            return now.size() == 1
                    && switch (ending) {
                        case SAME_WORKER -> before.containsAll(now);
                        case ANOTHER_WORKER -> !before.containsAll(now);
                        case ONE_WORKER -> true;
                        case NOBODY -> throw new IllegalStateException();
                    }
                    && ready();
        });
    }

    /** The same for a user who begins another session whenever the last one has given up. */
    void awaitServed() {
        Await.until(this::transcript, SETTLED, () -> {
            if (mcps().isEmpty()) {
                startHarness();
            }
            return workers().size() == 1 && ready();
        });
    }

    /**
     * The documented end: one worker serves the route again, each request was submitted at most once, and when the
     * sessions have ended nothing is left of them, in processes, routes and descriptors.
     */
    void assertEndsWell() {
        awaitReady();
        Await.until(
                () -> "one worker process of " + workers() + "\n" + transcript(),
                SETTLED,
                () -> workers().size() == 1);
        // Within milliseconds of a kill nobody has noticed yet, so the first of these may still meet the dead.
        AtomicInteger attempts = new AtomicInteger();
        Await.until(this::transcript, SETTLED, () -> {
            String id = "last-" + attempts.incrementAndGet();
            traffic.stream(id, 2);
            return traffic.awaitEnd(id, LIMIT) == 200 && traffic.notes().contains(id + " /worker/v1/messages");
        });
        traffic.awaitCallers();
        traffic.assertSubmittedOnce();
        if (maker == Maker.OURS) {
            assertSurvivorsHoldNothing();
        }

        endHarnesses();
        mcps().forEach(entry -> signal(entry.pid(), "TERM"));
        Await.until(
                () -> "no process is left of " + workers() + mcps() + "\n" + transcript(),
                SETTLED,
                () -> workers().isEmpty() && mcps().isEmpty());
        Await.until(
                () -> "no worker is left of " + daemon.workers(),
                SETTLED,
                () -> daemon.workers().isEmpty());
        Await.until(
                () -> "the daemon is the only process of this user in " + processes(),
                LIMIT,
                () -> processes().stream()
                        .allMatch(entry -> entry.pid() == daemon.process().pid()));
        Await.until(
                () -> "the daemon holds " + descriptors() + ", at its start " + atStart,
                LIMIT,
                () -> closedWhatItOpened(descriptors()));
    }

    /**
     * Nothing is under way: a client has its connection with the daemon and no other, a worker that and pools, at most one
     * connection for each caller, to the provider and from the daemon. Nobody keeps what the other end has closed, and who was
     * there before the fault holds no more files, pipes and selectors than then.
     */
    private void assertSurvivorsHoldNothing() {
        mcps().forEach(mcp -> assertHolds(mcp.pid(), 0));
        workers().forEach(worker -> assertHolds(worker.pid(), traffic.callers()));
    }

    private void assertHolds(long pid, int pooled) {
        Await.until(() -> pid + " holds " + Descriptors.of(pid) + ", before the fault " + held.get(pid), LIMIT, () -> {
            Descriptors now = Descriptors.of(pid);
            Descriptors then = held.getOrDefault(pid, now);
            return now.established() == now.connected().size()
                    && now.establishedWith(daemonPort) == 1
                    && now.establishedWith(providerPort) <= pooled
                    && now.established() - 1 <= 2 * pooled
                    && now.others().size() <= then.others().size();
        });
    }

    private Descriptors descriptors() {
        return Descriptors.of(daemon.process().pid());
    }

    /** Open is what it has opened at its start, and a pool of connections to the provider, at most one for each caller. */
    private boolean closedWhatItOpened(Descriptors now) {
        return now.closedWhatCameSince(atStart, providerPort) && now.connected().size() <= traffic.callers();
    }

    String transcript() {
        StringBuilder text = new StringBuilder("state " + daemon.workers() + ", answered " + traffic.answered() + "\n");
        all.forEach(process -> text.append(process.transcript()).append('\n'));
        return text.toString();
    }

    @Override
    public void close() {
        Stream.concat(mcps().stream(), workers().stream()).forEach(entry -> signal(entry.pid(), "KILL"));
        all.forEach(Proc::close);
        Stream.concat(mcps().stream(), workers().stream()).forEach(entry -> signal(entry.pid(), "KILL"));
    }
}
