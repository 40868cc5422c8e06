package org.nemorelay.pluginhost.internal;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.nemorelay.telemetry.EventLog;

/** The ends of plugins: each stopped and uninstalled on threads of its own, and what one leaves behind is named. */
final class Departures {
    private final long stopMillis;
    private final EventLog log;
    private final EventLog atTheEnd;
    private final Remains remains = new Remains();

    /** Guarded by itself. */
    private final Queue<Gone> gone = new ArrayDeque<>();

    /** Guarded by itself. */
    private final Map<Path, String> blocked = new TreeMap<>();

    /** A plugin that has come to its end, and what is left of it. */
    private record Gone(Generation generation, WeakReference<ClassLoader> loader) {}

    /**
     * @param stopMillis how long one may take
     * @param log of what ends while requests run
     * @param atTheEnd of what ends with the worker
     */
    Departures(long stopMillis, EventLog log, EventLog atTheEnd) {
        this.stopMillis = stopMillis;
        this.log = log;
        this.atTheEnd = atTheEnd;
    }

    /** What has been left behind so far, by file. */
    Map<Path, String> left() {
        synchronized (blocked) {
            return new TreeMap<>(blocked);
        }
    }

    /** Stops and uninstalls a plugin, for as long as it may take; returns at once. */
    void remove(Generation generation) {
        Optional<WeakReference<ClassLoader>> loader = generation.loader();
        generation.retire(stopMillis).thenAccept(end -> {
            ended(generation, end);
            if (end instanceof Generation.End.Gone(List<String> threads) && threads.isEmpty()) {
                loader.ifPresent(known -> {
                    synchronized (gone) {
                        gone.add(new Gone(generation, known));
                    }
                });
            }
        });
    }

    /** Stops a plugin at the end of the worker; completes when it has, or when it had its time and is named. */
    CompletableFuture<Void> stop(Generation generation) {
        return generation.stop(stopMillis).thenAccept(end -> {
            if (end instanceof Generation.End.Blocked) {
                log(
                        atTheEnd,
                        generation,
                        described(generation) + " did not come to an end within " + stopMillis / 1_000
                                + " s, the worker ends without waiting for it; correct the plugin's deactivation");
            }
        });
    }

    /** What is kept in memory of plugins that are gone. */
    void lookAtRemains() {
        synchronized (gone) {
            for (Gone one = gone.poll(); one != null; one = gone.poll()) {
                remains.add(one.generation(), one.loader());
            }
        }
        for (Generation generation : remains.kept()) {
            left(
                    generation,
                    described(generation) + " is removed, but something keeps its classes in memory, such as a shutdown"
                            + " hook, an MBean, a log handler or a thread-local of a thread that is not its own; give that"
                            + " back in the plugin's deactivation");
        }
    }

    private static String described(Generation generation) {
        return "plugin " + generation.names() + " " + generation.version() + " of " + generation.file();
    }

    private void ended(Generation generation, Generation.End end) {
        String plugin = described(generation);
        switch (end) {
            case Generation.End.Gone(List<String> threads) -> {
                if (!threads.isEmpty()) {
                    left(
                            generation,
                            plugin + " is removed and has left threads behind, which keep its classes in memory: "
                                    + String.join(", ", threads) + "; end them in the plugin's deactivation");
                }
            }
            case Generation.End.Blocked() ->
                left(
                        generation,
                        plugin + " did not come to an end within " + stopMillis / 1_000
                                + " s and is abandoned: its threads stay until the worker ends; correct the plugin");
        }
    }

    private void left(Generation generation, String line) {
        log(log, generation, line);
        synchronized (blocked) {
            blocked.put(generation.file(), line);
        }
    }

    private static void log(EventLog log, Generation generation, String line) {
        log.log(
                EventLog.Level.ERROR,
                PluginHostComponent.TARGET,
                "plugin_abandoned",
                line,
                "plugin",
                generation.names());
    }
}
