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
    final List<Trouble> troubles = new ArrayList<>();

    /** What runs when the change is made; each kind in one of them. */
    private final Set<Generation> next = new LinkedHashSet<>();

    /** Which planned kinds a file is to provide. */
    private final Map<Path, Set<String>> kinds = new LinkedHashMap<>();

    private final List<Planned> staged = new ArrayList<>();
    private final List<Planned> undecided = new ArrayList<>();

    /** What may become active after the change. */
    private final Set<Generation> awaited = new HashSet<>();

    /** Why a component does not run as the plan wants it. */
    record Trouble(PluginPlan.Component component, FailureKind kind, String line, boolean required) {}

    /** One that took too long to start: another try would only cost its time again. */
    record Abandoned(Generation generation, String kind, String line) {}

    Change(Deployment deployment, PluginPlan wanted) {
        this.deployment = deployment;
        this.files = deployment.files;
        this.starts = deployment.starts;
        this.wanted = wanted;
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
        byFile.forEach((file, configurations) -> kinds.put(file, configurations.keySet()));
        byFile.forEach((file, configurations) -> {
            Optional<Generation> now = deployment.running.stream()
                    .filter(generation -> runs(generation, file, configurations))
                    .findFirst();
            now.ifPresent(next::add);
            if (now.isEmpty() && !waitedFor(file, configurations)) {
                starting.put(file, configurations);
            }
        });
        for (boolean more = true; more; ) {
            more = starting.keySet().removeIf(this::held);
        }
        Set<Bundle> replaced = new HashSet<>();
        deployment.running.stream()
                .filter(generation -> !next.contains(generation))
                .forEach(generation -> replaced.add(generation.bundle()));
        libraries(replaced);
        // What uses classes of a bundle that goes has to begin anew with it.
        for (boolean more = true; more; ) {
            more = false;
            for (Generation generation : List.copyOf(next)) {
                Path file = generation.file();
                if (byFile.containsKey(file)
                        && runs(generation, file, byFile.get(file))
                        && generation.dependsOn(replaced)) {
                    next.remove(generation);
                    starting.put(file, byFile.get(file));
                    replaced.add(generation.bundle());
                    more = true;
                }
            }
        }
        deployment.obsolete = Set.copyOf(replaced);
        starting.forEach(this::start);
    }

    private boolean runs(Generation generation, Path file, Map<String, Map<String, Object>> configurations) {
        return generation.file().equals(file)
                && generation.runs(files.generation(file).sha256(), configurations);
    }

    /** Whether it is being started already, or was abandoned as it is: another try would only cost its time again. */
    private boolean waitedFor(Path file, Map<String, Map<String, Object>> configurations) {
        List<Generation> starting = deployment.late.stream()
                .map(Planned::generation)
                .filter(generation -> runs(generation, file, configurations))
                .toList();
        awaited.addAll(starting);
        List<Abandoned> same = deployment.abandoned.stream()
                .filter(one -> runs(one.generation(), file, configurations))
                .toList();
        for (PluginPlan.Component component : wanted.components()) {
            same.stream()
                    .filter(one -> one.kind().equals(component.kind()))
                    .findFirst()
                    .ifPresent(one -> fails(component, files.generation(file), one.line(), FailureKind.PLUGIN));
        }
        return !starting.isEmpty() || !same.isEmpty();
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
        Optional<Generation> serving = serving(kind);
        List<Generation> fitting = files.generations().stream()
                .filter(generation -> generation.kind(kind).isPresent())
                .toList();
        if (fitting.size() == 1) {
            Generation generation = fitting.getFirst();
            Optional<String> pin = component.sha256().filter(pinned -> !pinned.equals(generation.sha256()));
            if (pin.isEmpty()) {
                return Optional.of(generation.file());
            }
            trouble(
                    component,
                    FailureKind.PLUGIN,
                    wanted.pin(kind).orElse(component.position()) + ": plugin \"" + kind + "\": "
                            + generation.file() + " has the SHA-256 "
                            + generation.sha256() + ", not the one that is pinned: put the pinned file there or"
                            + " change sha256",
                    Starts.required(component, Optional.of(generation)));
        } else if (fitting.size() > 1) {
            trouble(
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
            boolean refused = serving.isPresent()
                    && Optional.ofNullable(files.seen().get(serving.get().file()))
                            .filter(one -> !one.refusal().isEmpty())
                            .isPresent();
            if (!refused && serving.isPresent() && !Starts.required(component, serving)) {
                // Taken away, and nothing that must be there.
                return Optional.empty();
            }
        }
        keep(kind);
        return Optional.empty();
    }

    private void missing(PluginPlan.Component component, Optional<Generation> serving) {
        String none = "no bundle in " + files.places() + " provides the plugin kind \"" + component.kind() + "\"";
        Optional<PluginFiles.Seen> there =
                serving.map(generation -> files.seen().get(generation.file()));
        String line = component.position() + ": "
                + there.filter(one -> !one.refusal().isEmpty())
                        .map(one -> "plugin \"" + component.kind() + "\": plugin file "
                                + serving.get().file() + " " + one.refusal())
                        .orElse(none + ", put one there or remove the component");
        trouble(component, FailureKind.CONFIGURATION, line, Starts.required(component, serving));
    }

    private void start(Path file, Map<String, Map<String, Object>> configurations) {
        if (held(file)) {
            return;
        }
        List<PluginPlan.Component> planned = wanted.components().stream()
                .filter(component -> configurations.containsKey(component.kind()))
                .toList();
        try {
            Generation generation = unused(file);
            next.add(generation);
            Optional<String> unresolved = generation.unresolved().or(generation::componentless);
            boolean runs = unresolved.isEmpty();
            for (PluginPlan.Component component : planned) {
                Optional<String> wrong = Starts.misconfigured(component, generation, wanted);
                runs &= wrong.isEmpty();
                wrong.ifPresent(line -> fails(component, generation, line, FailureKind.CONFIGURATION));
                unresolved.ifPresent(reason -> fails(
                        component,
                        generation,
                        file + ": plugin \"" + component.kind() + "\" " + reason,
                        FailureKind.PLUGIN));
            }
            if (!runs) {
                return;
            }
            generation.start(deployment.admin, configurations, deployment::wake);
            long now = System.nanoTime();
            for (PluginPlan.Component component : planned) {
                Planned one = new Planned(component, generation, now);
                staged.add(one);
                undecided.add(one);
            }
        } catch (PluginFiles.Unusable | IOException e) {
            planned.forEach(component -> trouble(
                    component,
                    FailureKind.PLUGIN,
                    "plugin file " + file + " " + e.getMessage(),
                    Starts.required(component, Optional.of(files.generation(file)))));
            next.removeIf(one -> one.file().equals(file) && !deployment.running.contains(one));
            configurations.keySet().forEach(this::keep);
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

    /** The start of a worker: as long as it takes for what is required, not long for the rest. */
    void awaitStart() throws InterruptedException {
        long begun = System.nanoTime();
        long named = begun;
        while (true) {
            undecided.removeIf(this::decided);
            boolean failed = troubles.stream().anyMatch(Trouble::required);
            if (failed || undecided.isEmpty()) {
                break;
            }
            long now = System.nanoTime();
            if (now - begun >= OPTIONAL_NANOS && undecided.stream().noneMatch(one -> required(one.generation()))) {
                break;
            }
            if (now - named >= TimeUnit.MILLISECONDS.toNanos(deployment.limits.slowMillis())) {
                named = now;
                undecided.forEach(one -> starts.nameSlow(one, TimeUnit.NANOSECONDS.toSeconds(now - begun)));
            }
            deployment.await(LOOK_AGAIN_MILLIS);
        }
        undecided.stream().filter(one -> next.contains(one.generation())).forEach(one -> {
            awaited.add(one.generation());
            deployment.late.add(one);
        });
        next.removeAll(awaited);
    }

    /** Whether one of its kinds must run, and so all of them. */
    private boolean required(Generation generation) {
        return wanted.components().stream()
                .filter(component -> generation.wanted().containsKey(component.kind()))
                .anyMatch(component -> Starts.required(component, Optional.of(generation)));
    }

    /** A change while requests run: it succeeds soon or not at all. */
    void awaitChange() throws InterruptedException {
        long begun = System.nanoTime();
        while (!undecided.isEmpty()
                && System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(deployment.limits.changeMillis())) {
            undecided.removeIf(this::decided);
            if (!undecided.isEmpty()) {
                deployment.await(LOOK_AGAIN_MILLIS);
            }
        }
        for (Planned one : undecided) {
            String line = starts.slow(one);
            deployment.abandoned.add(
                    new Abandoned(one.generation(), one.component().kind(), line));
            fails(one.component(), one.generation(), line, FailureKind.PLUGIN);
        }
        undecided.clear();
    }

    private boolean decided(Planned one) {
        Optional<Optional<String>> failure = starts.outcome(one, wanted);
        failure.ifPresent(line ->
                line.ifPresent(text -> fails(one.component(), one.generation(), text, FailureKind.CONFIGURATION)));
        return failure.isPresent();
    }

    /** A bundle runs with all of its planned kinds or with none. */
    private void fails(PluginPlan.Component component, Generation generation, String line, FailureKind kind) {
        trouble(component, kind, line, Starts.required(component, Optional.of(generation)));
        for (PluginPlan.Component other : wanted.components()) {
            if (other != component
                    && kinds.getOrDefault(generation.file(), Set.of()).contains(other.kind())
                    && troubles.stream().noneMatch(trouble -> trouble.component() == other)) {
                trouble(
                        other,
                        kind,
                        other.position() + ": plugin \"" + other.kind() + "\" does not run because plugin \""
                                + component.kind() + "\" of the same file " + generation.file()
                                + " does not; correct that one",
                        Starts.required(other, Optional.of(generation)));
            }
        }
        out(generation);
    }

    /** Neither it nor what is wired to it takes a place that is taken; what has those places goes on. */
    private void out(Generation generation) {
        next.remove(generation);
        for (Generation other : List.copyOf(next)) {
            if (!deployment.running.contains(other)
                    && kinds.getOrDefault(other.file(), Set.of()).stream()
                            .anyMatch(kind -> serving(kind).isPresent())
                    && other.dependsOn(Set.of(generation.bundle()))) {
                withdraw(other, "uses classes of " + generation.file() + ", which does not run");
            }
        }
        kinds.getOrDefault(generation.file(), Set.of()).forEach(this::keep);
    }

    private Optional<Generation> serving(String kind) {
        return deployment.running.stream()
                .filter(generation -> generation.wanted().containsKey(kind))
                .findFirst();
    }

    /** What serves a kind goes on until another version of it is in force. */
    private void keep(String kind) {
        serving(kind).ifPresent(this::keep);
    }

    /** One goes on with all that it serves, and with what it uses. */
    private void keep(Generation before) {
        if (!next.add(before)) {
            return;
        }
        for (Generation other : List.copyOf(next)) {
            if (!deployment.running.contains(other) && shares(before, other.file())) {
                withdraw(other, heldBy(before));
            }
        }
        deployment.running.stream()
                .filter(used -> used != before && before.dependsOn(Set.of(used.bundle())))
                .forEach(this::keep);
    }

    /** Whether a part of what a file is to provide goes on, which is told; the rest of that goes on too. */
    private boolean held(Path file) {
        Optional<Generation> before = next.stream()
                .filter(one -> deployment.running.contains(one) && shares(one, file))
                .findFirst();
        before.ifPresent(one -> withdraw(files.generation(file), heldBy(one)));
        return before.isPresent();
    }

    private boolean shares(Generation before, Path file) {
        return kinds.getOrDefault(file, Set.of()).stream().anyMatch(before.wanted()::containsKey);
    }

    private static String heldBy(Generation before) {
        return "waits, because another plugin of " + before.file() + ", the file it was in, has to go on";
    }

    /** It could run, and must not. */
    private void withdraw(Generation generation, String why) {
        for (PluginPlan.Component component : wanted.components()) {
            if (kinds.getOrDefault(generation.file(), Set.of()).contains(component.kind())
                    && troubles.stream().noneMatch(trouble -> trouble.component() == component)) {
                fails(
                        component,
                        generation,
                        component.position() + ": plugin \"" + component.kind() + "\" (" + generation.file() + ") "
                                + why + "; correct that one",
                        FailureKind.PLUGIN);
            }
        }
        out(generation);
    }

    private void trouble(PluginPlan.Component component, FailureKind kind, String line, boolean required) {
        troubles.add(new Trouble(component, kind, line, required));
    }

    /** All of it at once takes the place of all that was. */
    void commit() {
        deployment.inForce = wanted;
        Map<String, String> lines = new HashMap<>();
        for (Trouble trouble : troubles) {
            Optional<Generation> before = next.stream()
                    .filter(generation ->
                            generation.wanted().containsKey(trouble.component().kind()))
                    .findFirst();
            String line = trouble.line()
                    + before.map(generation ->
                                    "; version " + generation.version() + " goes on with the configuration that it has")
                            .orElse("");
            String earlier = lines.putIfAbsent(trouble.component().kind(), line);
            if (earlier == null
                    && !line.equals(deployment.troubles.get(trouble.component().kind()))) {
                deployment.log.log(
                        EventLog.Level.ERROR,
                        PluginHostComponent.TARGET,
                        before.isPresent() ? "plugin_update_failed" : "plugin_quarantined",
                        line,
                        "plugin",
                        trouble.component().kind());
            }
        }
        deployment.troubles = Map.copyOf(lines);
        List<Generation> before = List.copyOf(deployment.running);
        tell(before);
        deployment.running.clear();
        deployment.running.addAll(next);
        Set<Generation> gone = new LinkedHashSet<>(before);
        staged.forEach(one -> gone.add(one.generation()));
        deployment.late.forEach(one -> gone.add(one.generation()));
        deployment.late.removeIf(one -> !awaited.contains(one.generation()));
        gone.removeAll(next);
        gone.removeAll(awaited);
        deployment.retire(gone);
    }

    /** Nothing of it was seen by any request. */
    void drop() {
        Set<Generation> gone = new LinkedHashSet<>();
        staged.forEach(one -> gone.add(one.generation()));
        gone.removeAll(deployment.running);
        gone.forEach(deployment.departures::remove);
    }

    private void tell(List<Generation> before) {
        List<Generation> started =
                next.stream().filter(one -> !before.contains(one)).toList();
        List<Generation> ended =
                before.stream().filter(one -> !next.contains(one)).toList();
        for (Generation generation : started) {
            Optional<Generation> old =
                    ended.stream().filter(one -> replaces(generation, one)).findFirst();
            deployment.log.log(
                    EventLog.Level.INFO,
                    PluginHostComponent.TARGET,
                    old.isPresent() ? "plugin_updated" : "plugin_started",
                    "plugin " + generation.names() + " " + generation.version() + " of " + generation.file()
                            + " is active"
                            + old.map(one -> ", it replaces version " + one.version())
                                    .orElse(""),
                    "plugin",
                    generation.names());
        }
        ended.stream()
                .filter(one -> started.stream().noneMatch(generation -> replaces(generation, one)))
                .forEach(one -> deployment.log.log(
                        EventLog.Level.INFO,
                        PluginHostComponent.TARGET,
                        "plugin_removed",
                        "plugin " + one.names() + " " + one.version() + " of " + one.file() + " takes no more requests",
                        "plugin",
                        one.names()));
    }

    private static boolean replaces(Generation generation, Generation old) {
        return old.wanted().keySet().stream().anyMatch(generation.wanted()::containsKey);
    }

    /** While a worker starts, its status names what it waits for. */
    void describeStarting() {
        deployment.describe(undecided.stream().map(Planned::generation).toList());
    }
}
