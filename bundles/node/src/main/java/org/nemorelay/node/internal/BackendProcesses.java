package org.nemorelay.node.internal;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.nemorelay.backend.Methods;
import org.nemorelay.backend.StatusReply;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.ModelProber;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * The backend processes of this node (distributed-seams 4.6), one for each key {@code modelID#replica}. Starting and
 * stopping of one key happen one after the other. Safe for any thread.
 */
final class BackendProcesses implements AutoCloseable {
    private static final String TARGET = "nemo_relay.node";
    private static final Duration READY = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration FREE = Duration.ofSeconds(5);
    private static final Duration STATUS = Duration.ofSeconds(2);
    private static final Duration END = Duration.ofSeconds(5);
    private static final int TAIL = 20;
    private static final int STARTS = 3;

    /** A live process. */
    record Running(String key, String model, int replica, String backend, String address, String instance) {}

    private record Entry(Running running, Process process, Deque<String> tail, String local) {}

    private final Map<String, BackendCommand> commands;
    private final String bind;
    private final String advertised;
    private final String token;
    private final ModelProber prober;
    private final BackendClientFactory clients;
    private final EventLog log;
    private final Map<String, Entry> entries = new TreeMap<>();
    private final KeyLocks locks = new KeyLocks();
    private boolean closed;

    BackendProcesses(
            Map<String, BackendCommand> commands,
            String bind,
            String advertised,
            String token,
            ModelProber prober,
            BackendClientFactory clients,
            EventLog log) {
        this.commands = commands;
        this.bind = bind;
        this.advertised = advertised;
        this.token = token;
        this.prober = prober;
        this.clients = clients;
        this.log = log;
    }

    List<String> backends() {
        return commands.keySet().stream().sorted().toList();
    }

    static String key(String backend, String model, int replica) {
        return (model.isEmpty() ? backend : model) + "#" + replica;
    }

    /**
     * The process of this key, started when there is none of this backend; returns when it answers.
     *
     * @throws RelayException with the last lines that the process wrote, when it does not come up
     */
    Running ensure(String nodeId, String backend, String model, int replica, boolean force) {
        BackendCommand command = commands.get(backend);
        if (command == null) {
            throw new RelayException(
                    FailureKind.NOT_FOUND,
                    "there is no backend " + backend + " on this node; there are: " + String.join(", ", backends()));
        }
        String key = key(backend, model, replica);
        try (KeyLocks.Hold _ = locks.hold(key)) {
            Optional<Entry> there = entry(key);
            if (there.isPresent()) {
                if (!force && there.get().running().backend().equals(backend)) {
                    return there.get().running();
                }
                end(there.get(), force);
            }
            return start(nodeId, command, key, model, replica);
        }
    }

    private Running start(String nodeId, BackendCommand command, String key, String model, int replica) {
        for (int attempt = 1; ; attempt++) {
            int port = freePort();
            String local = (bind.equals("0.0.0.0") ? "127.0.0.1" : bind) + ":" + port;
            Running running = new Running(
                    key,
                    model,
                    replica,
                    command.name(),
                    advertised + ":" + port,
                    UUID.randomUUID().toString());
            Entry entry = new Entry(running, spawn(command, bind + ":" + port), new ArrayDeque<>(), local);
            Thread.ofVirtual().name("log of " + key).start(() -> readLog(entry));
            if (awaitReady(nodeId, entry)) {
                put(entry);
                entry.process().onExit().thenAccept(process -> ended(entry));
                log.log(
                        Level.INFO,
                        TARGET,
                        "backend_started",
                        "Backend process is ready",
                        "process_key",
                        key,
                        "address",
                        running.address());
                return running;
            }
            boolean died = !entry.process().isAlive();
            kill(entry.process());
            if (!died || attempt == STARTS) {
                throw new RelayException(
                        FailureKind.UPSTREAM,
                        "backend " + command.name()
                                + (died ? " ended at once" : " was not ready within " + READY.toSeconds() + " s")
                                + tail(entry));
            }
        }
    }

    private synchronized void put(Entry entry) {
        if (closed) {
            kill(entry.process());
            throw new RelayException(FailureKind.UNAVAILABLE, "the node is ending");
        }
        entries.put(entry.running().key(), entry);
    }

    private Process spawn(BackendCommand command, String address) {
        ProcessBuilder builder = new ProcessBuilder(command.at(address)).redirectErrorStream(true);
        if (!token.isEmpty()) {
            builder.environment().put("LOCALAI_GRPC_AUTH_TOKEN", token);
        }
        try {
            return builder.start();
        } catch (IOException e) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, "backend " + command.name() + " cannot be started: " + e.getMessage());
        }
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new RelayException(FailureKind.LIMIT_REACHED, "no free port for a backend: " + e.getMessage());
        }
    }

    private boolean awaitReady(String nodeId, Entry entry) {
        long end = System.nanoTime() + READY.toNanos();
        while (System.nanoTime() - end < 0 && entry.process().isAlive()) {
            if (answers(nodeId, entry)) {
                return true;
            }
            try {
                Thread.sleep(POLL);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return false;
    }

    private boolean answers(String nodeId, Entry entry) {
        try {
            return prober.probe(Context.background(), nodeId, entry.local()) == ModelProber.Finding.ALIVE;
        } catch (SeamException e) {
            return false; // No carrier dials yet.
        }
    }

    private void readLog(Entry entry) {
        try (BufferedReader lines = entry.process().inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                log.log(
                        Level.DEBUG,
                        TARGET,
                        "backend_output",
                        line,
                        "process_key",
                        entry.running().key());
                synchronized (entry.tail()) {
                    entry.tail().add(line);
                    if (entry.tail().size() > TAIL) {
                        entry.tail().remove();
                    }
                }
            }
        } catch (IOException e) {
            // The process has ended.
        }
    }

    private static String tail(Entry entry) {
        synchronized (entry.tail()) {
            return entry.tail().isEmpty() ? "" : ": " + String.join(" | ", entry.tail());
        }
    }

    private void ended(Entry entry) {
        boolean byItself;
        synchronized (this) {
            byItself = entries.remove(entry.running().key(), entry);
        }
        if (byItself) {
            log.log(
                    Level.WARN,
                    TARGET,
                    "backend_ended",
                    "Backend process ended by itself with status "
                            + entry.process().exitValue() + tail(entry),
                    "process_key",
                    entry.running().key());
        }
    }

    private synchronized Optional<Entry> entry(String key) {
        return Optional.ofNullable(entries.get(key));
    }

    synchronized List<Running> running() {
        return entries.values().stream().map(Entry::running).toList();
    }

    /** Keys that an identifier means: an exact key, a model, or a backend; empty text for all. */
    synchronized List<String> keys(String identifier) {
        return entries.values().stream()
                .map(Entry::running)
                .filter(running -> identifier.isEmpty()
                        || running.key().equals(identifier)
                        || running.model().equals(identifier)
                        || running.backend().equals(identifier))
                .map(Running::key)
                .toList();
    }

    /** Ends the process of this key; returns when it is dead. False when there was none. */
    boolean stop(String key, boolean force) {
        try (KeyLocks.Hold _ = locks.hold(key)) {
            Optional<Entry> there = entry(key);
            there.ifPresent(entry -> end(entry, force));
            return there.isPresent();
        }
    }

    /** Ends the process of this key unless it has its model and serves; true when it was ended. */
    boolean endUnlessReady(String key) {
        try (KeyLocks.Hold _ = locks.hold(key)) {
            Optional<Entry> there = entry(key).filter(entry -> !ready(entry));
            there.ifPresent(entry -> {
                log.log(
                        Level.WARN,
                        TARGET,
                        "load_abandoned",
                        "Nobody waits for this load any more, ending its backend process",
                        "process_key",
                        key);
                end(entry, true);
            });
            return there.isPresent();
        }
    }

    private boolean ready(Entry entry) {
        try (BackendClient client = clients.newClient("", entry.local(), true)) {
            byte[] reply = client.call(Context.background().withTimeout(STATUS), Methods.STATUS, new byte[0]);
            return StatusReply.decode(reply).state() == StatusReply.State.READY;
        } catch (SeamException | IllegalArgumentException e) {
            return false;
        }
    }

    private void end(Entry entry, boolean force) {
        synchronized (this) {
            entries.remove(entry.running().key(), entry);
        }
        if (!force) {
            free(entry);
        }
        kill(entry.process());
        log.log(
                Level.INFO,
                TARGET,
                "backend_stopped",
                "Backend process stopped",
                "process_key",
                entry.running().key());
    }

    /** Lets go of the model at the process of this key, which goes on. */
    boolean unload(String key) {
        Optional<Entry> there = entry(key);
        return there.isPresent() && free(there.get());
    }

    private boolean free(Entry entry) {
        try (BackendClient client = clients.newClient("", entry.local(), true)) {
            client.call(Context.background().withTimeout(FREE), Methods.FREE, new byte[0]);
            return true;
        } catch (SeamException e) {
            log.log(Level.DEBUG, TARGET, "backend_not_freed", "Backend did not free its model: " + e.getMessage());
            return false;
        }
    }

    private static void kill(Process process) {
        process.destroy();
        try {
            if (!process.waitFor(END.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly().waitFor(END.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        List<Entry> all;
        synchronized (this) {
            closed = true;
            all = List.copyOf(entries.values());
            entries.clear();
        }
        all.forEach(entry -> entry.process().destroy());
        all.forEach(entry -> kill(entry.process()));
    }
}
