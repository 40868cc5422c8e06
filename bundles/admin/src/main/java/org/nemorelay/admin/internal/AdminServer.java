package org.nemorelay.admin.internal;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import jdk.net.ExtendedSocketOptions;
import org.nemorelay.admin.AdminClient;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** Answers verbs on a Unix-domain socket that only one user may use: one request and one reply for each connection. */
final class AdminServer implements AutoCloseable {
    static final String TARGET = "nemo_relay.admin";

    private static final int MAX_REQUEST_BYTES = 64 << 10;
    private static final int MAX_CONNECTIONS = 16;
    private static final Duration REQUEST_TIME = Duration.ofSeconds(10);
    private static final int MAX_PATH_BYTES = 107;

    private volatile Path path;
    private final UserPrincipal owner;
    private final Map<String, AdminVerb> verbs;
    private final EventLog log;
    private final ServerSocketChannel server;
    private final Semaphore free = new Semaphore(MAX_CONNECTIONS);
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
    private final Thread acceptor;

    private AdminServer(
            Path path, UserPrincipal owner, Map<String, AdminVerb> verbs, EventLog log, ServerSocketChannel server) {
        this.path = path;
        this.owner = owner;
        this.verbs = verbs;
        this.log = log;
        this.server = server;
        this.acceptor = Thread.ofPlatform().daemon().name("admin-socket").start(this::accept);
    }

    /** Another process answers at the path: it may be about to end. */
    static final class Taken extends IOException {
        private static final long serialVersionUID = 1L;

        Taken() {
            super("another process answers there");
        }
    }

    /**
     * Listens at the path, in the place of a socket that nobody answers on any more.
     *
     * @param owner whose processes may connect
     * @param verbs may change at any time
     * @throws Taken when somebody answers there already
     * @throws IOException when the path cannot be used
     */
    static AdminServer open(Path path, UserPrincipal owner, Map<String, AdminVerb> verbs, EventLog log)
            throws IOException {
        int length = path.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8).length;
        if (length > MAX_PATH_BYTES) {
            throw new IOException("the path is longer than the " + MAX_PATH_BYTES + " bytes that a socket may have");
        }
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            if (answers(path)) {
                throw new Taken();
            }
            Files.delete(path);
        }
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            server.bind(UnixDomainSocketAddress.of(path));
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            return new AdminServer(path, owner, verbs, log, server);
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    static boolean answers(Path path) {
        try (SocketChannel probe = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            return probe.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private void accept() {
        while (server.isOpen()) {
            try {
                SocketChannel channel = server.accept();
                if (free.tryAcquire()) {
                    open.add(channel);
                    Thread.ofVirtual().name("admin-request").start(() -> serve(channel));
                } else {
                    channel.close();
                }
            } catch (IOException e) {
                if (server.isOpen()) {
                    log.log(
                            Level.WARN,
                            TARGET,
                            "admin_accept_failed",
                            "Admin connection was not accepted: " + Reasons.of(e));
                }
            }
        }
    }

    private void serve(SocketChannel channel) {
        try (channel) {
            Thread timer = Lines.closeAfter(channel, REQUEST_TIME);
            String request;
            try {
                request = Lines.read(channel, MAX_REQUEST_BYTES);
            } finally {
                timer.interrupt();
            }
            Lines.write(channel, mayAsk(channel) ? answer(request) : refusal());
        } catch (IOException e) {
            log.log(Level.DEBUG, TARGET, "admin_connection_ended", "Admin connection ended early: " + Reasons.of(e));
        } finally {
            open.remove(channel);
            free.release();
        }
    }

    private boolean mayAsk(SocketChannel channel) throws IOException {
        return channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user().equals(owner);
    }

    private String refusal() {
        log.log(Level.WARN, TARGET, "admin_peer_refused", "Admin request of another user was refused");
        return error(new RelayException(FailureKind.UNAUTHORIZED, "this socket belongs to another user"));
    }

    private String answer(String text) {
        try {
            JsonObject request = Json.parseObject(text).only("verb", "arguments");
            String name = request.string("verb");
            Map<String, Object> arguments =
                    request.optionalObject("arguments").map(JsonObject::values).orElse(Map.of());
            AdminVerb verb = verbs.get(name);
            if (verb == null) {
                throw new RelayException(
                        FailureKind.NOT_FOUND,
                        "unknown verb \"" + name + "\"; known: " + String.join(", ", new TreeSet<>(verbs.keySet())));
            }
            Map<String, Object> reply = new LinkedHashMap<>();
            reply.put("ok", true);
            reply.put("result", verb.run(arguments));
            return Json.write(reply);
        } catch (RelayException e) {
            return error(e);
        } catch (JsonException e) {
            return error(new RelayException(FailureKind.INVALID_ARGUMENT, e.getMessage(), e));
        } catch (RuntimeException e) {
            log.log(Level.ERROR, TARGET, "admin_verb_failed", "Admin verb failed: " + Reasons.defect(e));
            return error(new RelayException(FailureKind.INTERNAL, "the verb failed; the log says why", e));
        }
    }

    private static String error(RelayException e) {
        Map<String, Object> error = new LinkedHashMap<>();
        error.put("kind", e.kind().word());
        error.put("message", e.getMessage());
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("ok", false);
        reply.put("error", error);
        return Json.write(reply);
    }

    /** Answers at a name with the process id from now on, and leaves its own to a successor. */
    void moveAside() throws IOException {
        Path aside = AdminClient.stopping(path, ProcessHandle.current().pid());
        Files.move(path, aside, StandardCopyOption.ATOMIC_MOVE);
        path = aside;
    }

    /** Stops listening, ends open connections and removes the socket. */
    @Override
    public void close() throws IOException {
        server.close();
        for (SocketChannel channel : open) {
            channel.close();
        }
        try {
            acceptor.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(path);
    }
}
