package org.nemorelay.pluginhost.internal;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.Bundle;

/** The ends of plugins: each stopped on threads of its own, and what one leaves behind is named, in one line for an end. */
final class Departures {
    private final long stopMillis;
    private final EventLog log;
    private final EventLog atTheEnd;
    private final Runnable changed;
    private final Remains remains = new Remains();

    /** Guarded by itself. */
    private final Queue<Gone> gone = new ArrayDeque<>();

    /** Guarded by itself. */
    private final Map<Path, Kept> blocked = new TreeMap<>();

    /** What ends or has ended. Guarded by itself; it keeps no bundle. */
    private final Map<Bundle, Leaving> leaving = new WeakHashMap<>();

    /**
     * @param begun by {@link System#nanoTime}
     * @param calls kinds whose calls do not come back
     * @param over when it has ended, or had its time
     */
    private record Leaving(long begun, Set<String> calls, CompletableFuture<Void> over) {
        long seconds() {
            return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
        }
    }

    /** A plugin that has come to its end, and what is left of it. */
    private record Gone(Generation generation, WeakReference<ClassLoader> loader) {}

    /** @param loader empty where none of its classes has run */
    private record Kept(String line, Optional<WeakReference<ClassLoader>> loader) {
        boolean collected() {
            return loader.filter(known -> known.get() == null).isPresent();
        }
    }

    /**
     * @param stopMillis how long one may take
     * @param log of what ends while requests run
     * @param atTheEnd of what ends with the worker
     * @param changed told, on any thread, when more has been left behind
     */
    Departures(long stopMillis, EventLog log, EventLog atTheEnd, Runnable changed) {
        this.stopMillis = stopMillis;
        this.log = log;
        this.atTheEnd = atTheEnd;
        this.changed = changed;
    }

    /** What has been left behind and is still there, by file. */
    Map<Path, String> left() {
        synchronized (blocked) {
            Map<Path, String> lines = new TreeMap<>();
            blocked.forEach((file, kept) -> lines.put(file, kept.line()));
            return lines;
        }
    }

    /** Stops and uninstalls a plugin, for as long as it may take; returns at once what completes then. */
    CompletableFuture<Void> remove(Generation generation) {
        Optional<WeakReference<ClassLoader>> loader = generation.loader();
        return leave(
                generation, () -> generation.retire(stopMillis), (end, how) -> removed(generation, loader, end, how));
    }

    /** Stops a plugin at the end of the worker; completes when it has, or when it had its time and is named. */
    CompletableFuture<Void> stop(Generation generation) {
        return leave(generation, () -> generation.stop(stopMillis), (end, how) -> {
            if (!(end instanceof Generation.End.Gone) || !callsLeft(how).isEmpty()) {
                log(
                        atTheEnd,
                        generation.names(),
                        described(generation) + " did not come to an end within " + how.seconds()
                                + " s, the worker ends without waiting for it; correct the plugin's deactivation");
            }
        });
    }

    /** Once for each, however often it is asked for. */
    private CompletableFuture<Void> leave(
            Generation generation,
            Supplier<CompletableFuture<Generation.End>> way,
            BiConsumer<Generation.End, Leaving> ended) {
        Leaving how = new Leaving(System.nanoTime(), new TreeSet<>(), new CompletableFuture<>());
        synchronized (leaving) {
            Leaving before = leaving.putIfAbsent(generation.bundle(), how);
            if (before != null) {
                return before.over();
            }
        }
        way.get().whenComplete((end, failure) -> {
            ended.accept(end, how);
            how.over().complete(null);
        });
        return how.over();
    }

    /** Calls of a service that is gone have not come back: a part of its plugin's end, or by itself. */
    void left(Bundle bundle, String kind) {
        synchronized (leaving) {
            Leaving how = leaving.get(bundle);
            if (how != null) {
                how.calls().add(kind);
                return;
            }
        }
        log(
                log,
                kind,
                "plugin " + kind
                        + " has ended a service by itself and left a call behind, which keeps a thread; correct"
                        + " the plugin");
    }

    /** What is kept in memory of plugins that are gone. */
    void lookAtRemains() {
        synchronized (gone) {
            for (Gone one = gone.poll(); one != null; one = gone.poll()) {
                remains.add(one.generation(), one.loader());
            }
        }
        for (Remains.Left one : remains.kept()) {
            Generation generation = one.generation();
            left(
                    generation,
                    Optional.of(one.loader()),
                    described(generation) + " is removed, but something keeps its classes in memory, such as a shutdown"
                            + " hook, an MBean, a log handler or a thread-local of a thread that is not its own; give that"
                            + " back in the plugin's deactivation");
        }
        boolean less;
        synchronized (blocked) {
            less = blocked.values().removeIf(Kept::collected);
        }
        if (less) {
            changed.run();
        }
    }

    private static String described(Generation generation) {
        return "plugin " + generation.names() + " " + generation.version() + " of " + generation.file();
    }

    private Set<String> callsLeft(Leaving how) {
        synchronized (leaving) {
            return new TreeSet<>(how.calls());
        }
    }

    private void removed(
            Generation generation, Optional<WeakReference<ClassLoader>> loader, Generation.End end, Leaving how) {
        String plugin = described(generation);
        switch (end) {
            case Generation.End.Gone(List<String> threads) -> {
                Set<String> calls = callsLeft(how);
                if (!threads.isEmpty() || !calls.isEmpty()) {
                    left(
                            generation,
                            loader,
                            plugin + " is removed and has left threads behind, which keep its classes in memory: "
                                    + String.join(
                                            ", ",
                                            threads.isEmpty()
                                                    ? List.of("calls of " + String.join(", ", calls)
                                                            + " that have not come back")
                                                    : threads)
                                    + "; end them in the plugin's deactivation");
                } else {
                    loader.ifPresent(known -> {
                        synchronized (gone) {
                            gone.add(new Gone(generation, known));
                        }
                    });
                }
            }
            case Generation.End.Blocked() ->
                left(
                        generation,
                        loader,
                        plugin + " did not come to an end within " + how.seconds()
                                + " s and is abandoned: its threads stay until the worker ends; correct the plugin");
            case Generation.End.Failed(String reason) ->
                left(
                        generation,
                        loader,
                        plugin + " cannot be ended (" + reason + ") and is abandoned: what it holds may stay until the"
                                + " worker ends; correct the plugin");
        }
    }

    private void left(Generation generation, Optional<WeakReference<ClassLoader>> loader, String line) {
        log(log, generation.names(), line);
        synchronized (blocked) {
            blocked.put(generation.file(), new Kept(line, loader));
        }
        changed.run();
    }

    private static void log(EventLog log, String plugin, String line) {
        log.log(EventLog.Level.ERROR, PluginHostComponent.TARGET, "plugin_abandoned", line, "plugin", plugin);
    }
}
