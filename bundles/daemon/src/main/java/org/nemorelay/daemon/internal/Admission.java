package org.nemorelay.daemon.internal;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits upgrade attempts per peer address in fixed windows (relay-daemon 2). All users of a machine share the loopback
 * address, so its limit is higher by far: the limit is there to keep strangers from costing signatures. Safe for any
 * thread.
 */
final class Admission {
    static final long WINDOW_MS = 15_000;
    private static final int MAX_PEERS = 1_024;

    private final int perPeer;
    private final int perLoopback;
    private final Map<InetAddress, Window> windows = new HashMap<>();

    private static final class Window {
        final long startedAt;
        int attempts;

        Window(long startedAt) {
            this.startedAt = startedAt;
        }
    }

    Admission(int perPeer, int perLoopback) {
        this.perPeer = perPeer;
        this.perLoopback = perLoopback;
    }

    /** What becomes of an attempt. */
    enum Verdict {
        ADMITTED,
        /** The peer has had as many as it may have in one window. */
        ONE_TOO_MANY,
        /** More peers than are kept count of. */
        TOO_MANY_PEERS
    }

    /** Counts one attempt. */
    synchronized Verdict admit(InetAddress peer, long now) {
        Window window = windows.get(peer);
        if (window != null && now - window.startedAt >= WINDOW_MS) {
            windows.remove(peer);
            window = null;
        }
        if (window == null) {
            if (windows.size() >= MAX_PEERS) {
                windows.values().removeIf(old -> now - old.startedAt >= WINDOW_MS);
                if (windows.size() >= MAX_PEERS) {
                    return Verdict.TOO_MANY_PEERS;
                }
            }
            window = new Window(now);
            windows.put(peer, window);
        }
        return ++window.attempts <= limit(peer) ? Verdict.ADMITTED : Verdict.ONE_TOO_MANY;
    }

    /** How many attempts this peer has in one window. */
    int limit(InetAddress peer) {
        return peer.isLoopbackAddress() ? perLoopback : perPeer;
    }
}
