package org.nemorelay.seams;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** What can be cancelled in this process, by message id (agents) or job id (distributed-seams 3.5). Safe for any thread. */
public final class CancelRegistry {
    private final ConcurrentMap<String, Runnable> actions = new ConcurrentHashMap<>();

    /** Later registrations of a key replace earlier ones. */
    public void register(String key, Runnable cancel) {
        actions.put(key, cancel);
    }

    /** Removes and runs the action; whether there was one. */
    public boolean cancel(String key) {
        Runnable action = actions.remove(key);
        if (action == null) {
            return false;
        }
        action.run();
        return true;
    }

    /** Removes the action without running it. */
    public void deregister(String key) {
        actions.remove(key);
    }
}
