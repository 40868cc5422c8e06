package org.nemorelay.admin.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * A control socket and the verbs that it answers. Where it cannot be, its process serves without it and warns. Where a
 * process that is about to end still has it, such as a daemon that lost the race for the port or one that drains, it is
 * taken over as soon as that process lets go.
 */
final class VerbSocket {
    private static final Duration RETRY = Duration.ofMillis(250);

    private final EventLog log;
    private final String without;
    private final Map<String, AdminVerb> verbs = new ConcurrentHashMap<>();
    private Optional<AdminServer> server = Optional.empty();
    private Optional<Thread> waiting = Optional.empty();
    private final CountDownLatch closing = new CountDownLatch(1);

    /** Where the socket is to be, in a folder that is there and this user's own. */
    interface Place {
        Path prepared() throws IOException;
    }

    /** @param without what is missed where there is no socket, as the begin of a sentence */
    VerbSocket(Place place, String without, EventLog log) {
        this.log = log;
        this.without = without;
        try {
            open(place);
        } catch (AdminServer.Taken e) {
            missed(e);
            waiting = Optional.of(Thread.ofVirtual().name("admin-socket-wait").start(() -> takeOver(place)));
        } catch (IOException | RelayException e) {
            missed(e);
        }
    }

    private void open(Place place) throws IOException {
        Path socket = place.prepared();
        // The folder is this user's own, so its owner is who this process runs as.
        server = Optional.of(AdminServer.open(socket, Files.getOwner(socket.getParent()), verbs, log));
    }

    private void takeOver(Place place) {
        while (true) {
            try {
                if (closing.await(RETRY.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
                open(place);
                log.log(
                        Level.INFO,
                        AdminServer.TARGET,
                        "admin_socket_available",
                        "The control socket is there now: the process that had it has let it go");
                return;
            } catch (InterruptedException e) {
                return;
            } catch (AdminServer.Taken e) {
                // Still there.
            } catch (IOException | RelayException e) {
                missed(e);
                return;
            }
        }
    }

    private void missed(Exception e) {
        log.log(Level.WARN, AdminServer.TARGET, "admin_socket_unavailable", without + ": " + e.getMessage());
    }

    void add(AdminVerb verb) {
        verbs.put(verb.name(), verb);
    }

    void remove(AdminVerb verb) {
        verbs.remove(verb.name(), verb);
    }

    /** The process begins to stop: a successor gets the name at once, and this one is asked at its own. */
    void moveAside() {
        withServer(
                AdminServer::moveAside,
                "admin_socket_not_moved",
                "A successor gets the control socket only when this process has ended");
    }

    void close() {
        withServer(AdminServer::close, "admin_socket_not_removed", "Control socket was not removed");
    }

    private interface Step {
        void take(AdminServer server) throws IOException;
    }

    /** Waits for no socket any more, and takes the step with the one that there is. */
    private void withServer(Step step, String event, String failed) {
        try {
            if (waiting.isPresent()) {
                // Not interrupted: a probe that is broken off would pass for a socket on which nobody answers.
                closing.countDown();
                waiting.get().join();
            }
            if (server.isPresent()) {
                step.take(server.get());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            log.log(Level.WARN, AdminServer.TARGET, event, failed + ": " + Reasons.of(e));
        }
    }
}
