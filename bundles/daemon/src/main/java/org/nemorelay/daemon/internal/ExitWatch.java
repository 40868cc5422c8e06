package org.nemorelay.daemon.internal;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.nemorelay.broker.Broker;
import org.nemorelay.broker.Outcome;
import org.nemorelay.http.Origin;

/**
 * Sees the end of draining workers whose control connection cannot tell it: they died before they knew of their drain, or
 * their daemon did. What counts is that nothing listens any more on this machine's loopback where the worker did, which had
 * proven the place to be its own by its probe: our worker keeps its port until its process has ended. That is looked for
 * twice, a second apart, while no control connection is open. A silent process still listens; of another machine's addresses
 * nothing is concluded. All but the looking belongs to the control thread.
 */
final class ExitWatch {
    private static final String LOOPBACK = "127.0.0.1";
    private static final long LOOK_MS = 1_000;
    private static final int LOOKS = 2;
    private static final int CONNECT_MS = 1_000;

    private final Broker broker;
    private final ControlThread thread;
    private final Predicate<String> connected;
    private final Consumer<Outcome<Void>> effects;

    /** Times in a row that nothing listened, by worker. */
    private final Map<String, Integer> refused = new HashMap<>();

    /** @param connected whether a worker has a control connection */
    ExitWatch(Broker broker, ControlThread thread, Predicate<String> connected, Consumer<Outcome<Void>> effects) {
        this.broker = broker;
        this.thread = thread;
        this.connected = connected;
        this.effects = effects;
    }

    /** Looks from now on, until {@link #over}. */
    void begin(String workerId, String endpoint) {
        loopback(endpoint).ifPresent(address -> {
            refused.put(workerId, 0);
            later(workerId, address);
        });
    }

    void over(String workerId) {
        refused.remove(workerId);
    }

    private void later(String workerId, InetSocketAddress address) {
        thread.after(LOOK_MS, () -> {
            if (!refused.containsKey(workerId)) {
                return;
            }
            if (connected.test(workerId)) {
                refused.put(workerId, 0);
                later(workerId, address);
                return;
            }
            Thread.ofVirtual().name("exit watch").start(() -> {
                boolean nobody = nobodyListens(address);
                thread.post(() -> looked(workerId, address, nobody));
            });
        });
    }

    private void looked(String workerId, InetSocketAddress address, boolean nobody) {
        if (refused.computeIfPresent(workerId, (id, times) -> nobody ? times + 1 : 0) == null) {
            return;
        }
        if (refused.get(workerId) >= LOOKS && !connected.test(workerId)) {
            effects.accept(broker.workerEnded(workerId, thread.now()));
        }
        later(workerId, address);
    }

    /** Where the worker listens, if that is this machine whoever asks. */
    private static Optional<InetSocketAddress> loopback(String endpoint) {
        URI origin = Origin.of(endpoint).uri();
        return origin.getHost().equals(LOOPBACK)
                ? Optional.of(new InetSocketAddress(LOOPBACK, origin.getPort()))
                : Optional.empty();
    }

    private static boolean nobodyListens(InetSocketAddress address) {
        try (Socket socket = new Socket()) {
            socket.connect(address, CONNECT_MS);
            return false;
        } catch (ConnectException e) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
