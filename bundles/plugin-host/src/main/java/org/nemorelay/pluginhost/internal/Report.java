package org.nemorelay.pluginhost.internal;

import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.nemorelay.config.BundleFolders.Entry;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.osgi.framework.Bundle;

/** What runs, what does not and why, as an administrator sees it. */
final class Report {
    private final PluginFiles files;
    private final Departures departures;
    private final StuckCalls stuck;
    private final BiFunction<Bundle, String, String> failing;
    private final Function<String, Optional<String>> holding;

    /**
     * @param failing why a kind of a bundle fails at what it is given; empty while it does not
     * @param holding what there is to say of a kind for whose sake requests are held
     */
    Report(
            PluginFiles files,
            Departures departures,
            StuckCalls stuck,
            BiFunction<Bundle, String, String> failing,
            Function<String, Optional<String>> holding) {
        this.files = files;
        this.departures = departures;
        this.stuck = stuck;
        this.failing = failing;
        this.holding = holding;
    }

    /** One line for each planned kind and each file. */
    List<PluginStatus> of(
            Collection<Generation> running,
            List<Generation> starting,
            Map<String, String> troubles,
            Map<String, String> ended,
            Optional<PluginStatus> rejected) {
        Map<String, PluginStatus> all = new TreeMap<>();
        for (Entry entry : files.applied()) {
            if (entry instanceof Entry.Ignored(Path file, String reason)) {
                put(all, new PluginStatus("", "", State.IDLE, file.toString(), reason));
            }
        }
        Set<String> told = new HashSet<>();
        running.forEach(generation -> generation.wanted().keySet().forEach(kind -> {
            told.add(kind);
            put(all, running(kind, generation, starting, troubles, ended));
        }));
        starting.forEach(generation -> generation.wanted().keySet().forEach(kind -> {
            if (told.add(kind)) {
                put(all, status(kind, generation, State.STARTING, ""));
            }
        }));
        files.seen().forEach((file, one) -> {
            if (!one.refusal().isEmpty()) {
                put(
                        all,
                        new PluginStatus(
                                "",
                                "",
                                State.QUARANTINED,
                                file.toString(),
                                "plugin file " + file + " " + one.refusal()));
            }
            one.generation().ifPresent(generation -> {
                if (generation.kinds().isEmpty()) {
                    put(all, status("", generation, State.IDLE, ""));
                }
                for (Generation.Kind kind : generation.kinds()) {
                    String trouble = troubles.getOrDefault(kind.name(), "");
                    if (told.contains(kind.name())) {
                        continue;
                    }
                    put(
                            all,
                            status(
                                    kind.name(),
                                    generation,
                                    trouble.isEmpty() ? State.IDLE : State.QUARANTINED,
                                    trouble));
                }
                generation.kinds().forEach(kind -> told.add(kind.name()));
            });
        });
        troubles.forEach((kind, line) -> {
            if (!told.contains(kind)) {
                put(all, new PluginStatus(kind, "", State.QUARANTINED, "", line));
            }
        });
        departures
                .left()
                .forEach((file, line) -> put(all, new PluginStatus("", "", State.QUARANTINED, file.toString(), line)));
        rejected.ifPresent(file -> put(all, file));
        return List.copyOf(all.values());
    }

    private PluginStatus running(
            String kind,
            Generation generation,
            List<Generation> starting,
            Map<String, String> troubles,
            Map<String, String> ended) {
        if (ended.containsKey(kind)) {
            return status(kind, generation, State.QUARANTINED, ended.get(kind));
        }
        String failure = failing.apply(generation.bundle(), kind);
        return failure.isEmpty()
                ? new PluginStatus(
                        kind,
                        generation.version(),
                        State.ACTIVE,
                        generation.file().toString(),
                        remarks(kind, starting, troubles),
                        troubles.containsKey(kind))
                : status(kind, generation, State.FAILING, failure);
    }

    /** What there is to say about a plugin that serves. */
    private String remarks(String kind, List<Generation> starting, Map<String, String> troubles) {
        Optional<String> next = starting.stream()
                .filter(generation -> generation.wanted().containsKey(kind))
                .findFirst()
                .map(generation -> "version " + generation.version() + " of " + generation.file()
                        + " is starting and takes its place when it is active");
        return Stream.of(next, Optional.ofNullable(troubles.get(kind)), stuck.line(kind), holding.apply(kind))
                .flatMap(Optional::stream)
                .collect(Collectors.joining("; "));
    }

    private static PluginStatus status(String kind, Generation generation, State state, String reason) {
        return new PluginStatus(
                kind, generation.version(), state, generation.file().toString(), reason);
    }

    private static void put(Map<String, PluginStatus> all, PluginStatus one) {
        all.put(one.kind() + "\n" + one.file(), one);
    }
}
