package org.nemorelay.node.internal;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** One holder of a key at a time. Keys come from peers, so that nothing is kept of one that nobody holds. */
final class KeyLocks {
    private final Map<String, Held> locks = new HashMap<>();

    /** Gives the key back when it is closed. */
    interface Hold extends AutoCloseable {
        @Override
        void close();
    }

    private static final class Held {
        private final ReentrantLock lock = new ReentrantLock();
        private int users;
    }

    /** Waits for the key. */
    Hold hold(String key) {
        Held held;
        synchronized (locks) {
            held = locks.computeIfAbsent(key, one -> new Held());
            held.users++;
        }
        held.lock.lock();
        return () -> {
            held.lock.unlock();
            synchronized (locks) {
                if (--held.users == 0) {
                    locks.remove(key);
                }
            }
        };
    }

    /** How many keys are held or waited for. */
    int size() {
        synchronized (locks) {
            return locks.size();
        }
    }
}
