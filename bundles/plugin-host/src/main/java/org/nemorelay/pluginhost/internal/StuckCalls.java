package org.nemorelay.pluginhost.internal;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.nemorelay.pipeline.Share;

/** Which plugins keep threads with calls that nobody waits for any more. Safe for any thread. */
final class StuckCalls {
    /** The same for policies and for what requests pass through. */
    static final int PER_SERVICE = Share.MAX_RUNNING;

    private final Runnable changed;

    // Guarded by this.
    private final Map<String, Map<Service, Integer>> threads = new HashMap<>();

    /** @param changed told, on any thread, when {@link #line} may say something else */
    StuckCalls(Runnable changed) {
        this.changed = changed;
    }

    /** Takes the number of one service's threads, as often as it changes. */
    final class Service implements IntConsumer {
        private final String plugin;

        // Guarded by the outer.
        private boolean over;

        private Service(String plugin) {
            this.plugin = plugin;
        }

        @Override
        public void accept(int count) {
            set(this, count);
        }

        /** Nothing is asked of it any more: what it leaves behind is told where it ends, and is not its successor's. */
        void over() {
            synchronized (StuckCalls.this) {
                set(this, 0);
                over = true;
            }
        }
    }

    Service of(String plugin) {
        return new Service(plugin);
    }

    private void set(Service service, int count) {
        String plugin = service.plugin;
        synchronized (this) {
            if (service.over) {
                return;
            }
            Map<Service, Integer> services = threads.computeIfAbsent(plugin, first -> new HashMap<>());
            if (count == 0) {
                services.remove(service);
            } else {
                services.put(service, count);
            }
            if (services.isEmpty()) {
                threads.remove(plugin);
            }
        }
        changed.run();
    }

    /** What an administrator reads about it; empty when every call of the plugin came back. */
    synchronized Optional<String> line(String plugin) {
        return Optional.ofNullable(threads.get(plugin)).map(services -> {
            int count = services.values().stream().mapToInt(Integer::intValue).sum();
            boolean full = services.values().stream().anyMatch(taken -> taken >= PER_SERVICE);
            return count + (count == 1 ? " call has" : " calls have") + " not come back in time; each keeps one of the "
                    + PER_SERVICE + " threads of its service"
                    + (full
                            ? ", and one has none left: whatever needs it waits 5 s and fails, which for an answer is after the"
                                    + " provider was asked"
                            : "")
                    + "; correct the plugin";
        });
    }
}
