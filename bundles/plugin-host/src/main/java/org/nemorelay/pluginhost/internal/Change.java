package org.nemorelay.pluginhost.internal;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.pluginhost.internal.Starts.Planned;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.Bundle;

/** From what runs to what a plan wants of the files as they are. Of the deployment's thread. */
final class Change {
    private static final long LOOK_AGAIN_MILLIS = 25;

    /** How long a worker's start waits for plugins that it can do without. */
    private static final long OPTIONAL_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final Deployment deployment;
    private final PluginFiles files;
    private final Starts starts;
    private final PluginPlan wanted;
    private final Waits waits;
    private final ChangeLog told;
    private final Places places;
    /** Those of its troubles that the log has already. */
    private final Set<Trouble> logged = new HashSet<>();

    private final List<Planned> staged = new ArrayList<>();
    private final List<Planned> undecided = new ArrayList<>();

    /** What may become active after the change. */
    private final Set<Generation> awaited = new HashSet<>();

    /** What an earlier change has begun to start. */
    private final Map<Generation, Planned> begun = new LinkedHashMap<>();

    /** Why a component does not run as the plan wants it. */
    record Trouble(PluginPlan.Component component, FailureKind kind, String line, boolean required) {}

    /** One that took too long to start: another try would only cost its time again. */
    record Abandoned(Generation generation, String kind, String line) {}

    /** Whose start a change waits for. */
    enum Waits {
        /** A worker's start is no change: all of it. */
        FOR_ALL,
        /** What an earlier change has begun to start holds up itself alone. */
        FOR_WHAT_IT_STARTS
    }

    Change(Deployment deployment, PluginPlan wanted, Waits waits) {
        this.deployment = deployment;
        this.files = deployment.files;
        this.starts = deployment.starts;
        this.wanted = wanted;
        this.waits = waits;
        this.told = new ChangeLog(deployment.log);
        this.places = new Places(wanted, files, deployment.running);
    }

    /** What does not run as the plan wants it. */
    List<Trouble> troubles() {
        return places.troubles;
    }

    /** Adds what was logged as another change's. */
    void tell(Trouble trouble) {
        places.troubles.add(trouble);
        logged.add(trouble);
    }

    /** Whether the plan in force says something else of this component. */
    boolean asks(PluginPlan.Component component) {
        Optional<PluginPlan.Component> before = deployment.inForce.components().stream()
                .filter(other -> other.kind().equals(component.kind()))
                .findFirst();
        return before.isEmpty()
                || !before.get().required().equals(component.required())
                || !before.get().sha256().equals(component.sha256())
                || !Generation.text(deployment.inForce.configuration(component.kind()))
                        .equals(Generation.text(wanted.configuration(component.kind())));
    }

    /** Starts what does not run yet. */
    void stage() {
        Map<Path, Map<String, Map<String, Object>>> byFile = new LinkedHashMap<>();
        for (PluginPlan.Component component : wanted.components()) {
            provider(component)
                    .ifPresent(file -> byFile.computeIfAbsent(file, absent -> new LinkedHashMap<>())
                            .put(component.kind(), wanted.configuration(component.kind())));
        }
        Map<Path, Map<String, Map<String, Object>>> starting = new LinkedHashMap<>();
        List<Generation> decided = new ArrayList<>();
        byFile.forEach((file, configurations) -> places.provides(file, configurations.keySet()));
        byFile.forEach((file, configurations) -> {
            Optional<Generation> now = deployment.running.stream()
                    .filter(generation -> runs(generation, file, configurations))
                    .findFirst();
            now.ifPresent(places.next::add);
            if (now.isEmpty() && !abandoned(file, configurations)) {
                deployment.late.stream()
                        .filter(one -> runs(one.generation(), file, configurations))
                        .forEach(one -> begun.putIfAbsent(one.generation(), one));
                begun.keySet().stream()
                        .filter(generation -> generation.file().equals(file))
                        .findFirst()
                        .ifPresentOrElse(decided::add, () -> starting.put(file, configurations));
            }
        });
        if (waits == Waits.FOR_WHAT_IT_STARTS) {
            begun.forEach((generation, one) -> {
                if (deployment.goesOn(generation)) {
                    awaited.add(generation);
                    decided.remove(generation);
                    places.keep(generation.file());
                }
            });
        }
        for (boolean more = true; more; ) {
            more = starting.keySet().removeIf(places::held);
        }
        Set<Bundle> replaced = new HashSet<>();
        deployment.running.stream()
                .filter(generation -> !places.next.contains(generation))
                .forEach(generation -> replaced.add(generation.bundle()));
        libraries(replaced);
        // What uses classes of a bundle that goes has to begin anew with it.
        for (boolean more = true; more; ) {
            more = false;
            for (Generation generation : List.copyOf(places.next)) {
                Path file = generation.file();
                if (byFile.containsKey(file)
                        && runs(generation, file, byFile.get(file))
                        && generation.dependsOn(replaced)) {
                    places.next.remove(generation);
                    starting.put(file, byFile.get(file));
                    replaced.add(generation.bundle());
                    more = true;
                }
            }
        }
        deployment.obsolete = Set.copyOf(replaced);
        decided.forEach(generation -> {
            if (!places.held(generation.file())) {
                places.next.add(generation);
                plan(generation, begun.get(generation));
            }
        });
        starting.forEach(this::start);
    }

    /** Its start is this change's, whichever began it. */
    private void plan(Generation generation, Planned since) {
        for (PluginPlan.Component component : wanted.components()) {
            if (generation.wanted().containsKey(component.kind())) {
                Planned one = new Planned(component, generation, since.begun(), since.millis());
                staged.add(one);
                undecided.add(one);
            }
        }
    }

    private boolean runs(Generation generation, Path file, Map<String, Map<String, Object>> configurations) {
        return generation.file().equals(file)
                && generation.runs(files.generation(file).sha256(), configurations);
    }

    /** Whether it was abandoned as it is: another try would only cost its time again. */
    private boolean abandoned(Path file, Map<String, Map<String, Object>> configurations) {
        List<Abandoned> same = deployment.abandoned.stream()
                .filter(one -> runs(one.generation(), file, configurations))
                .toList();
        for (PluginPlan.Component component : wanted.components()) {
            same.stream()
                    .filter(one -> one.kind().equals(component.kind()))
                    .findFirst()
                    .ifPresent(one -> places.fails(component, files.generation(file), one.line(), FailureKind.PLUGIN));
        }
        return !same.isEmpty();
    }

    /** Bundles without a kind of their own, of which newer copies are there. */
    private void libraries(Set<Bundle> replaced) {
        Set<Bundle> newest = new HashSet<>();
        files.generations().forEach(one -> newest.add(one.bundle()));
        deployment.running.forEach(generation -> newest.add(generation.bundle()));
        for (Bundle bundle : deployment.context.getBundles()) {
            if (Generation.isPlugin(bundle) && !newest.contains(bundle)) {
                replaced.add(bundle);
            }
        }
    }

    /** The file that is to provide a component; empty where none can, or where what runs has to go on. */
    Optional<Path> provider(PluginPlan.Component component) {
        String kind = component.kind();
        Optional<Generation> serving = places.serving(kind);
        List<Generation> fitting = files.generations().stream()
                .filter(generation -> generation.kind(kind).isPresent())
                .toList();
        if (fitting.size() == 1) {
            Generation generation = fitting.getFirst();
            Optional<String> pin = component.sha256().filter(pinned -> !pinned.equals(generation.sha256()));
            if (pin.isEmpty()) {
                return Optional.of(generation.file());
            }
            places.trouble(
                    component,
                    FailureKind.PLUGIN,
                    wanted.pin(kind).orElse(component.position()) + ": plugin \"" + kind + "\": "
                            + generation.file() + " has the SHA-256 "
                            + generation.sha256() + ", not the one that is pinned: put the pinned file there or"
                            + " change sha256",
                    Starts.required(component, Optional.of(generation)));
        } else if (fitting.size() > 1) {
            places.trouble(
                    component,
                    FailureKind.PLUGIN,
                    component.position() + ": the plugin kind \"" + kind + "\" is provided by "
                            + String.join(
                                    " and ",
                                    fitting.stream()
                                            .map(generation -> generation.file().toString())
                                            .toList())
                            + ", remove one of them",
                    Starts.required(component, Optional.of(fitting.getFirst())));
        } else {
            missing(component, serving);
            boolean refused = serving.flatMap(generation -> files.refusal(generation.file()))
                    .isPresent();
            if (!refused && serving.isPresent() && !Starts.required(component, serving)) {
                // Taken away, and nothing that must be there.
                return Optional.empty();
            }
        }
        places.keep(kind);
        return Optional.empty();
    }

    private void missing(PluginPlan.Component component, Optional<Generation> serving) {
        String none = "no bundle in " + files.places() + " provides the plugin kind \"" + component.kind() + "\"";
        String line = component.position() + ": "
                + serving.flatMap(generation -> files.refusal(generation.file()))
                        .map(refusal -> "plugin \"" + component.kind() + "\": plugin file " + refusal)
                        .orElseGet(() -> none + files.unusable() + ", put one there or remove the component");
        places.trouble(component, FailureKind.CONFIGURATION, line, Starts.required(component, serving));
    }

    private void start(Path file, Map<String, Map<String, Object>> configurations) {
        if (places.held(file)) {
            return;
        }
        List<PluginPlan.Component> planned = wanted.components().stream()
                .filter(component -> configurations.containsKey(component.kind()))
                .toList();
        try {
            Generation generation = unused(file);
            places.next.add(generation);
            Optional<String> unresolved = generation.unresolved().or(generation::componentless);
            boolean runs = unresolved.isEmpty();
            for (PluginPlan.Component component : planned) {
                Optional<String> wrong = Starts.misconfigured(component, generation, wanted);
                runs &= wrong.isEmpty();
                wrong.ifPresent(line -> places.fails(component, generation, line, FailureKind.CONFIGURATION));
                unresolved.ifPresent(reason -> places.fails(
                        component,
                        generation,
                        file + ": plugin \"" + component.kind() + "\" " + reason,
                        FailureKind.PLUGIN));
            }
            if (!runs) {
                return;
            }
            generation.start(deployment.admin, configurations, deployment::wake);
            plan(
                    generation,
                    new Planned(planned.getFirst(), generation, System.nanoTime(), deployment.limits.changeMillis()));
        } catch (PluginFiles.Unusable | IOException e) {
            planned.forEach(component -> places.trouble(
                    component,
                    FailureKind.PLUGIN,
                    "plugin file " + file + " " + e.getMessage(),
                    Starts.required(component, Optional.of(files.generation(file)))));
            places.next.removeIf(one -> one.file().equals(file) && !deployment.running.contains(one));
            places.keep(file);
        }
    }

    /** An installed copy that was not started yet. */
    private Generation unused(Path file) throws PluginFiles.Unusable {
        Generation known = files.generation(file);
        if (known.unused()) {
            return known;
        }
        Generation another = files.install(file);
        if (!another.sha256().equals(known.sha256())) {
            deployment.departures.remove(another);
            throw new PluginFiles.Unusable("changed while it was read, it is read again");
        }
        return another;
    }

    /**
     * The start of a worker: as long as it takes for what is required, not long for the rest.
     *
     * @return false when something else is wanted meanwhile; what was begun is left to the change that makes it
     */
    boolean awaitStart() throws InterruptedException {
        long begun = System.nanoTime();
        long named = begun;
        while (true) {
            if (deployment.overtaken()) {
                handOver();
                return false;
            }
            undecided.removeIf(this::decided);
            boolean failed = places.troubles.stream().anyMatch(Trouble::required);
            if (failed || undecided.isEmpty()) {
                break;
            }
            long now = System.nanoTime();
            if (now - begun >= OPTIONAL_NANOS && undecided.stream().noneMatch(one -> required(one.generation()))) {
                break;
            }
            if (now - named >= TimeUnit.MILLISECONDS.toNanos(deployment.limits.slowMillis())) {
                named = now;
                undecided.forEach(one ->
                        starts.nameSlow(one, TimeUnit.NANOSECONDS.toSeconds(now - begun), "the worker waits for it"));
            }
            deployment.await(LOOK_AGAIN_MILLIS);
        }
        undecided.stream().filter(one -> places.next.contains(one.generation())).forEach(one -> {
            awaited.add(one.generation());
            deployment.late.removeIf(other -> other.generation() == one.generation()
                    && other.component().kind().equals(one.component().kind()));
            deployment.late.add(
                    new Planned(one.component(), one.generation(), one.begun(), deployment.limits.slowMillis()));
        });
        places.next.removeAll(awaited);
        return true;
    }

    /** All that it has begun goes to the change that comes next, which takes of it what is still wanted. */
    private void handOver() {
        Set<Generation> known = new HashSet<>();
        deployment.late.forEach(one -> known.add(one.generation()));
        staged.stream().filter(one -> !known.contains(one.generation())).forEach(deployment.late::add);
    }

    /** Whether one of its kinds must run, and so all of them. */
    private boolean required(Generation generation) {
        return wanted.components().stream()
                .filter(component -> generation.wanted().containsKey(component.kind()))
                .anyMatch(component -> Starts.required(component, Optional.of(generation)));
    }

    /**
     * A change while requests run: it succeeds soon or not at all.
     *
     * @return false when something else is wanted meanwhile; what was begun is left to the change that makes it
     */
    boolean awaitChange() throws InterruptedException {
        describeStarting();
        long begun = System.nanoTime();
        boolean named = false;
        while (true) {
            undecided.removeIf(this::decided);
            for (Planned one : List.copyOf(undecided)) {
                if (one.late()) {
                    undecided.remove(one);
                    places.fails(one.component(), one.generation(), deployment.abandon(one), FailureKind.PLUGIN);
                }
            }
            if (undecided.isEmpty()) {
                return true;
            }
            if (deployment.overtaken()) {
                handOver();
                return false;
            }
            long waited = System.nanoTime() - begun;
            if (!named && waited >= OPTIONAL_NANOS) {
                named = true;
                undecided.forEach(one -> starts.nameSlow(
                        one,
                        TimeUnit.NANOSECONDS.toSeconds(waited),
                        "what has changed with it waits for it, later changes do not"));
            }
            deployment.await(LOOK_AGAIN_MILLIS);
        }
    }

    private boolean decided(Planned one) {
        Optional<Optional<String>> failure = starts.outcome(one, wanted);
        failure.ifPresent(line -> line.ifPresent(
                text -> places.fails(one.component(), one.generation(), text, FailureKind.CONFIGURATION)));
        return failure.isPresent();
    }

    /** All of it at once takes the place of all that was. */
    void commit() {
        deployment.inForce = wanted;
        Map<String, String> lines = new HashMap<>(keepReplaced());
        for (Trouble trouble : places.troubles) {
            Optional<Generation> before = places.next.stream()
                    .filter(generation ->
                            generation.wanted().containsKey(trouble.component().kind()))
                    .findFirst();
            String line = trouble.line()
                    + before.map(generation ->
                                    "; version " + generation.version() + " goes on with the configuration that it has")
                            .orElse("");
            String earlier = lines.putIfAbsent(trouble.component().kind(), line);
            if (earlier == null
                    && !logged.contains(trouble)
                    && (files.news(line)
                            || !line.equals(
                                    deployment.troubles.get(trouble.component().kind())))) {
                deployment.log.log(
                        EventLog.Level.ERROR,
                        PluginHostComponent.TARGET,
                        before.isPresent() ? "plugin_update_failed" : "plugin_quarantined",
                        line,
                        "plugin",
                        trouble.component().kind());
            }
        }
        files.tellRest(lines.values());
        lines.forEach((kind, line) -> {
            if (places.troubles.stream().noneMatch(one -> one.component().kind().equals(kind))
                    && !line.equals(deployment.troubles.get(kind))) {
                told.kept(kind, line);
            }
        });
        deployment.troubles = Map.copyOf(lines);
        List<Generation> before = List.copyOf(deployment.running);
        told.tookPlace(before, places.next);
        deployment.running.clear();
        deployment.running.addAll(places.next);
        Set<Generation> gone = new LinkedHashSet<>(before);
        staged.forEach(one -> gone.add(one.generation()));
        deployment.late.forEach(one -> gone.add(one.generation()));
        deployment.late.removeIf(one -> !awaited.contains(one.generation()));
        gone.removeAll(places.next);
        gone.removeAll(awaited);
        gone.stream()
                .filter(generation -> !before.contains(generation))
                .filter(generation -> generation.wanted().keySet().stream()
                        .noneMatch(kind -> places.troubles.stream()
                                .anyMatch(trouble -> trouble.component().kind().equals(kind))))
                .forEach(told::withdrawn);
        deployment.retire(gone);
    }

    /**
     * What does more than observe and is no longer named goes when all is there that has to be: one may be meant to take the
     * other's place.
     *
     * @return why it goes on, by kind
     */
    private Map<String, String> keepReplaced() {
        Map<String, String> lines = new HashMap<>();
        Set<Generation> kept = new HashSet<>();
        for (Generation generation : List.copyOf(deployment.running)) {
            List<String> unnamed = generation.wanted().keySet().stream()
                    .filter(kind ->
                            generation.kind(kind).filter(one -> !one.observer()).isPresent())
                    .filter(kind -> wanted.components().stream()
                            .noneMatch(component -> component.kind().equals(kind)))
                    .toList();
            if (places.next.contains(generation) || unnamed.isEmpty()) {
                continue;
            }
            lacking(deployment.kept.contains(generation)).ifPresent(other -> {
                places.keep(generation);
                kept.add(generation);
                unnamed.forEach(kind -> lines.put(
                        kind,
                        "plugin \"" + kind + "\" (" + generation.file()
                                + ") goes on, though plugins.toml no longer names it, until plugin \""
                                + other.kind() + "\" is active or no longer named"));
            });
        }
        deployment.kept = kept;
        return lines;
    }

    /**
     * What has to be there and is not.
     *
     * @param unknown whether what no file provides is meant too
     */
    private Optional<PluginPlan.Component> lacking(boolean unknown) {
        return wanted.components().stream()
                .filter(component ->
                        places.next.stream().noneMatch(one -> one.wanted().containsKey(component.kind())))
                .filter(component -> {
                    Optional<Generation> provider = provided(component.kind());
                    return (unknown || provider.isPresent()) && Starts.required(component, provider);
                })
                .findFirst();
    }

    private Optional<Generation> provided(String kind) {
        return files.generations().stream()
                .filter(generation -> generation.kind(kind).isPresent())
                .findFirst();
    }

    /** Nothing of it was seen by any request. */
    void drop() {
        Set<Generation> gone = new LinkedHashSet<>();
        staged.forEach(one -> gone.add(one.generation()));
        deployment.late.forEach(one -> gone.remove(one.generation()));
        gone.removeAll(deployment.running);
        gone.forEach(deployment.departures::remove);
    }

    /** The status names what is waited for. */
    void describeStarting() {
        deployment.describe(staged.stream().map(Planned::generation).distinct().toList());
    }
}
