package org.nemorelay.pluginhost.internal;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.nemorelay.config.BundleFolders;
import org.nemorelay.config.BundleFolders.Entry;
import org.nemorelay.config.BundleFolders.Stat;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.config.Stillness;
import org.nemorelay.pluginhost.PluginCheck;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.hooks.resolver.ResolverHook;
import org.osgi.framework.hooks.resolver.ResolverHookFactory;
import org.osgi.framework.wiring.BundleCapability;
import org.osgi.framework.wiring.BundleRequirement;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.service.cm.ConfigurationAdmin;

/**
 * From folders and plan to running plugins, in steps that each succeed or change nothing: what is new starts beside what
 * runs, then all of it takes the place of all of that at once, and what was replaced ends with its last request. Of one
 * thread, {@link #plan}, {@link #rejected}, {@link #wake}, {@link #status} and {@link #inForce} excepted.
 */
final class Deployment {
    private static final long LOOK_MILLIS = 1_000;
    private static final long LOOK_AGAIN_MILLIS = 25;

    /** How long a worker's start waits for plugins that it can do without. */
    private static final long OPTIONAL_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** How long plugins may take.
     * @param changeMillis to start, when they are installed or changed while requests run
     * @param stopMillis to stop
     * @param slowMillis after which one that a worker's start waits for is named, again and again
     * @param settledMillis that nothing may have changed before a change counts: copies come in pieces, and changes together */
    record Limits(long changeMillis, long stopMillis, long slowMillis, long settledMillis) {
        static final Limits DEFAULT = new Limits(30_000, 15_000, 60_000, 600);
    }

    private static final int MAX_REGISTERED = 1_000;

    private final BundleContext context;
    private final BundleFolders files;
    private final ConfigurationAdmin admin;
    private final ComponentStates components;
    private final StuckCalls stuck;
    private final Predicate<Bundle> serves;
    private final BiFunction<Bundle, String, String> failing;
    private final Function<Set<Bundle>, CompletableFuture<Void>> show;
    private final Runnable statusChanged;
    private final Limits limits;
    private final EventLog log;

    private volatile List<PluginStatus> status = List.of();
    private volatile Set<Bundle> obsolete = Set.of();
    private volatile PluginPlan inForce;
    private volatile Optional<PluginStatus> rejected = Optional.empty();

    // Guarded by this.
    private PluginPlan plan;
    private boolean woken;

    // Of the host's thread.
    private List<Entry> applied = List.of();
    private PluginPlan tried;
    private final Map<Path, Seen> seen = new LinkedHashMap<>();
    private final Map<Path, Generation> running = new LinkedHashMap<>();
    private final List<Late> late = new ArrayList<>();

    /** Those that took too long to start. */
    private final List<Generation> abandoned = new ArrayList<>();

    private final Remains remains = new Remains();

    /** Guarded by itself. */
    private final Queue<Gone> gone = new ArrayDeque<>();

    private final Map<Path, String> blocked = new TreeMap<>();
    private Map<String, String> troubles = Map.of();
    private Map<String, String> ended = Map.of();
    private int copies;

    /** What was found out about a jar. */
    private record Seen(Stat stat, Optional<Generation> generation, String refusal) {}

    /** A component whose plugin is being started. */
    private record Planned(PluginPlan.Component component, Generation generation, long begun) {}

    /** A plugin that the worker's start did not wait for. */
    private record Late(Planned planned) {}

    /** A plugin that has come to its end, and what is left of it. */
    private record Gone(Generation generation, WeakReference<ClassLoader> loader) {}

    /** Why a component does not run as the plan wants it. */
    private record Trouble(PluginPlan.Component component, FailureKind kind, String line, boolean required) {}

    /** @param serves whether all services of a bundle are in use
     * @param failing why a kind of a bundle fails at what it is given; empty while it does not
     * @param show makes the services of these bundles the snapshot; completes when no request uses an earlier one */
    Deployment(
            BundleContext context,
            BundleFolders files,
            ConfigurationAdmin admin,
            ComponentStates components,
            StuckCalls stuck,
            Predicate<Bundle> serves,
            BiFunction<Bundle, String, String> failing,
            Function<Set<Bundle>, CompletableFuture<Void>> show,
            Runnable statusChanged,
            Limits limits,
            EventLog log) {
        this.context = context;
        this.files = files;
        this.admin = admin;
        this.components = components;
        this.stuck = stuck;
        this.serves = serves;
        this.failing = failing;
        this.show = show;
        this.statusChanged = statusChanged;
        this.limits = limits;
        this.log = new LogWhileRunning(context, log);
    }

    synchronized void plan(PluginPlan newest) {
        plan = newest;
        if (inForce == null) {
            inForce = newest;
        }
        wake();
    }

    /** The configuration file that is not in force, in the form of a plugin that does not run. */
    void rejected(Optional<PluginStatus> file) {
        rejected = file;
        wake();
    }

    PluginPlan inForce() {
        return inForce;
    }

    List<PluginStatus> status() {
        return status;
    }

    /** Something has changed that a wait may be for. */
    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    /** Keeps replaced bundles and, for the relay's own API, all plugins out of what a bundle can be wired to. */
    ResolverHookFactory resolverHook() {
        return triggers -> new ResolverHook() {
            @Override
            public void filterMatches(BundleRequirement requirement, Collection<BundleCapability> candidates) {
                candidates.removeIf(candidate -> {
                    Bundle provider = candidate.getRevision().getBundle();
                    return !provider.equals(requirement.getRevision().getBundle()) && obsolete.contains(provider);
                });
            }

            @Override
            public void filterResolvable(Collection<BundleRevision> candidates) {}

            @Override
            public void filterSingletonCollisions(BundleCapability singleton, Collection<BundleCapability> collisions) {
                // The generations of a plugin stand beside each other for a while.
                collisions.clear();
            }

            @Override
            public void end() {}
        };
    }

    // ---- the worker's start

    /** Starts what is planned; returns when all that is required runs. */
    void begin() throws InterruptedException {
        look(files.look());
        PluginPlan first = newest();
        tried = first;
        Change change = new Change(first);
        change.stage();
        change.describeStarting();
        change.awaitStart();
        Optional<Trouble> fatal =
                change.troubles.stream().filter(Trouble::required).findFirst();
        change.commit();
        if (fatal.isPresent()) {
            throw new RelayException(
                    fatal.get().kind(),
                    String.join(
                            "; ",
                            change.troubles.stream()
                                    .filter(Trouble::required)
                                    .map(Trouble::line)
                                    .distinct()
                                    .toList()));
        }
        log.log(
                EventLog.Level.INFO,
                PluginHostComponent.TARGET,
                "plugins_ready",
                first.components().size() + " plugins are configured");
    }

    // ---- changes while requests run

    /** Waits for a change and makes it. */
    void follow() throws InterruptedException {
        List<Entry> entries = settled();
        look(entries);
        PluginPlan newest = newest();
        boolean other = newest != tried;
        tried = newest;
        Change change = new Change(newest);
        change.stage();
        change.awaitChange();
        Optional<Trouble> wrong = newest == inForce
                ? Optional.empty()
                : change.troubles.stream()
                        .filter(trouble -> change.asks(trouble.component()))
                        .findFirst();
        if (wrong.isEmpty()) {
            change.commit();
            if (other) {
                log.log(EventLog.Level.INFO, PluginHostComponent.TARGET, "plugins_changed", "plugins.toml is in force");
            }
            return;
        }
        change.drop();
        for (Trouble trouble : change.troubles) {
            if (change.asks(trouble.component())) {
                log.log(
                        EventLog.Level.ERROR,
                        PluginHostComponent.TARGET,
                        "plugins_rejected",
                        trouble.line() + "; plugins.toml changes nothing until this is corrected",
                        "plugin",
                        trouble.component().kind());
            }
        }
        Change files = new Change(inForce);
        files.stage();
        files.awaitChange();
        change.troubles.stream()
                .filter(trouble -> change.asks(trouble.component()))
                .forEach(files.troubles::add);
        files.commit();
    }

    /** What is wanted and what there is for it. */
    private record Looked(List<Entry> entries, PluginPlan plan) {}

    /** What lies in the folders, once that or the plan has changed and neither has for a while. */
    private List<Entry> settled() throws InterruptedException {
        lookAtRunning();
        Stillness<Looked> state = new Stillness<>(new Looked(files.look(), newest()));
        while (true) {
            boolean changed =
                    !state.last().entries().equals(applied) || state.last().plan() != tried;
            if (changed && state.stoodFor(limits.settledMillis())) {
                return state.last().entries();
            }
            boolean waiting = !late.isEmpty();
            if (await(changed || waiting ? Math.min(100, limits.settledMillis()) : LOOK_MILLIS)) {
                lookAtRunning();
            }
            lookAtRemains();
            if (waiting) {
                settleLate();
            }
            state.seen(new Looked(files.look(), newest()));
        }
    }

    private synchronized PluginPlan newest() {
        return plan;
    }

    /** Returns whether something has changed meanwhile. */
    private synchronized boolean await(long millis) throws InterruptedException {
        if (!woken) {
            wait(millis);
        }
        boolean changed = woken;
        woken = false;
        return changed;
    }

    // ---- files

    /** Installs a copy of each jar that is new or has changed and passes the checks. */
    private void look(List<Entry> entries) {
        Map<Path, Seen> now = new LinkedHashMap<>();
        for (Entry entry : entries) {
            Seen before = seen.get(entry.file());
            switch (entry) {
                case Entry.Jar(Path file, Stat stat) ->
                    now.put(file, before != null && stat.equals(before.stat()) ? before : read(file, stat));
                case Entry.Refused(Path file, String reason) -> {
                    now.put(file, new Seen(new Stat(0, null, ""), Optional.empty(), reason));
                    if (before == null || !before.refusal().equals(reason)) {
                        refuse(file, reason);
                    }
                }
                case Entry.Ignored _ -> {}
            }
        }
        Set<Generation> kept = new HashSet<>(running.values());
        late.forEach(one -> kept.add(one.planned().generation()));
        now.values().forEach(one -> one.generation().ifPresent(kept::add));
        for (Seen one : seen.values()) {
            one.generation().filter(generation -> !kept.contains(generation)).ifPresent(this::remove);
        }
        seen.clear();
        seen.putAll(now);
        applied = List.copyOf(entries);
    }

    private Seen read(Path file, Stat stat) {
        try {
            Generation generation = install(file);
            Optional<String> refusal = generation.refusal();
            if (refusal.isEmpty()) {
                return new Seen(stat, Optional.of(generation), "");
            }
            remove(generation);
            refuse(file, refusal.get());
            return new Seen(stat, Optional.empty(), refusal.get());
        } catch (Unusable e) {
            refuse(file, e.getMessage());
            return new Seen(stat, Optional.empty(), e.getMessage());
        }
    }

    /** A jar that is not installed; the message follows the file's name. */
    private static final class Unusable extends Exception {
        private static final long serialVersionUID = 1L;

        Unusable(String message) {
            super(message);
        }
    }

    private Generation install(Path file) throws Unusable {
        Path copy = context.getDataFile(Generation.COPY.substring(1) + ++copies + ".jar")
                .toPath();
        try {
            String sha256 = JarCheck.copy(file, copy);
            Optional<String> refusal = JarCheck.refusal(copy);
            if (refusal.isPresent()) {
                Files.deleteIfExists(copy);
                throw new Unusable(refusal.get());
            }
            return new Generation(context, file, sha256, copy);
        } catch (IOException e) {
            throw new Unusable("cannot be read (" + BundleFolders.reason(e) + "), make it readable or remove it");
        } catch (BundleException e) {
            throw new Unusable("cannot be installed: " + Failures.line(e.getMessage()) + "; correct its manifest");
        }
    }

    private void remove(Generation generation) {
        Optional<WeakReference<ClassLoader>> loader = generation.loader();
        generation.retire(limits.stopMillis()).thenAccept(end -> {
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

    /** What is kept in memory of plugins that are gone. */
    private void lookAtRemains() {
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
        return "plugin " + names(generation) + " " + generation.version() + " of " + generation.file();
    }

    /** A file that nobody has asked for by name may be broken; a planned kind that it should provide is then missing. */
    private void refuse(Path file, String reason) {
        log.log(
                EventLog.Level.ERROR,
                PluginHostComponent.TARGET,
                "plugin_quarantined",
                "plugin file " + file + " " + reason,
                "file",
                file);
    }

    // ---- one change

    /** From what runs to what a plan wants of the files as they are. */
    private final class Change {
        private final PluginPlan wanted;
        private final List<Trouble> troubles = new ArrayList<>();

        /** What runs when the change is made, by file. */
        private final Map<Path, Generation> next = new LinkedHashMap<>();

        private final List<Planned> staged = new ArrayList<>();
        private final List<Planned> undecided = new ArrayList<>();

        Change(PluginPlan wanted) {
            this.wanted = wanted;
        }

        /** Whether the plan in force says something else of this component. */
        boolean asks(PluginPlan.Component component) {
            Optional<PluginPlan.Component> before = inForce.components().stream()
                    .filter(other -> other.kind().equals(component.kind()))
                    .findFirst();
            return before.isEmpty()
                    || !before.get().required().equals(component.required())
                    || !before.get().sha256().equals(component.sha256())
                    || !Generation.text(inForce.configuration(component.kind()))
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
            Set<Bundle> replaced = new HashSet<>();
            Map<Path, Map<String, Map<String, Object>>> starting = new LinkedHashMap<>();
            byFile.forEach((file, configurations) -> {
                Generation now = running.get(file);
                if (now != null && now.runs(generation(file).sha256(), configurations)) {
                    next.putIfAbsent(file, now);
                } else if (!next.containsKey(file) && !waitedFor(file, configurations)) {
                    starting.put(file, configurations);
                    Optional.ofNullable(now).map(Generation::bundle).ifPresent(replaced::add);
                }
            });
            running.forEach((file, generation) -> {
                if (!next.containsKey(file)) {
                    replaced.add(generation.bundle());
                }
            });
            libraries(replaced);
            // What uses classes of a bundle that goes has to begin anew with it.
            for (boolean more = true; more; ) {
                more = false;
                for (Map.Entry<Path, Generation> entry : Map.copyOf(next).entrySet()) {
                    Generation generation = entry.getValue();
                    if (byFile.containsKey(entry.getKey()) && generation.dependsOn(replaced)) {
                        next.remove(entry.getKey());
                        starting.put(entry.getKey(), byFile.get(entry.getKey()));
                        replaced.add(generation.bundle());
                        more = true;
                    }
                }
            }
            obsolete = Set.copyOf(replaced);
            starting.forEach(this::start);
        }

        /** Whether it is being started already, or was abandoned as it is: another try would only cost its time again. */
        private boolean waitedFor(Path file, Map<String, Map<String, Object>> configurations) {
            String sha256 = generation(file).sha256();
            if (late.stream()
                    .anyMatch(one -> one.planned().generation().file().equals(file)
                            && one.planned().generation().runs(sha256, configurations))) {
                return true;
            }
            boolean same =
                    abandoned.stream().anyMatch(one -> one.file().equals(file) && one.runs(sha256, configurations));
            if (same) {
                for (PluginPlan.Component component : wanted.components()) {
                    if (configurations.containsKey(component.kind())) {
                        fails(
                                component,
                                generation(file),
                                Deployment.this.troubles.getOrDefault(
                                        component.kind(),
                                        component.position() + ": plugin \"" + component.kind() + "\" (" + file
                                                + ") did not become active and is abandoned; correct the plugin or"
                                                + " remove the component"),
                                FailureKind.PLUGIN);
                    }
                }
            }
            return same;
        }

        /** Bundles without a kind of their own, of which newer copies are there. */
        private void libraries(Set<Bundle> replaced) {
            Set<Bundle> newest = new HashSet<>();
            seen.values()
                    .forEach(one -> one.generation().map(Generation::bundle).ifPresent(newest::add));
            running.values().forEach(generation -> newest.add(generation.bundle()));
            for (Bundle bundle : context.getBundles()) {
                if (Generation.isPlugin(bundle) && !newest.contains(bundle)) {
                    replaced.add(bundle);
                }
            }
        }

        /** The file that is to provide a component; empty where none can, or where what runs has to go on. */
        private Optional<Path> provider(PluginPlan.Component component) {
            String kind = component.kind();
            Optional<Generation> serving = running.values().stream()
                    .filter(generation -> generation.wanted().containsKey(kind))
                    .findFirst();
            List<Generation> fitting = seen.values().stream()
                    .flatMap(one -> one.generation().stream())
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
                        component.position() + ": plugin \"" + kind + "\": " + generation.file() + " has the SHA-256 "
                                + generation.sha256() + ", not the one that is pinned: put the pinned file there or"
                                + " change sha256",
                        required(component, Optional.of(generation)));
            } else if (fitting.size() > 1) {
                trouble(
                        component,
                        FailureKind.PLUGIN,
                        component.position() + ": the plugin kind \"" + kind + "\" is provided by "
                                + String.join(
                                        " and ",
                                        fitting.stream()
                                                .map(generation ->
                                                        generation.file().toString())
                                                .toList())
                                + ", remove one of them",
                        required(component, Optional.of(fitting.getFirst())));
            } else {
                missing(component, serving);
                boolean refused = serving.isPresent()
                        && Optional.ofNullable(seen.get(serving.get().file()))
                                .filter(one -> !one.refusal().isEmpty())
                                .isPresent();
                if (!refused && serving.isPresent() && !required(component, serving)) {
                    // Taken away, and nothing that must be there.
                    return Optional.empty();
                }
            }
            serving.ifPresent(generation -> next.put(generation.file(), generation));
            return Optional.empty();
        }

        private void missing(PluginPlan.Component component, Optional<Generation> serving) {
            String none = "no bundle in "
                    + String.join(
                            " or ", files.folders().stream().map(Path::toString).toList())
                    + " provides the plugin kind \"" + component.kind() + "\"";
            Optional<Seen> there = serving.map(generation -> seen.get(generation.file()));
            String line = component.position() + ": "
                    + there.filter(one -> !one.refusal().isEmpty())
                            .map(one -> "plugin \"" + component.kind() + "\": plugin file "
                                    + serving.get().file() + " " + one.refusal())
                            .orElse(none + ", put one there or remove the component");
            trouble(component, FailureKind.CONFIGURATION, line, required(component, serving));
        }

        private void start(Path file, Map<String, Map<String, Object>> configurations) {
            List<PluginPlan.Component> planned = wanted.components().stream()
                    .filter(component -> configurations.containsKey(component.kind()))
                    .toList();
            try {
                Generation generation = unused(file);
                next.put(file, generation);
                Optional<String> unresolved = generation.unresolved();
                if (unresolved.isPresent()) {
                    planned.forEach(component -> fails(
                            component,
                            generation,
                            file + ": plugin \"" + component.kind() + "\" " + unresolved.get(),
                            FailureKind.PLUGIN));
                    return;
                }
                generation.start(admin, configurations, Deployment.this::wake);
                long now = System.nanoTime();
                for (PluginPlan.Component component : planned) {
                    Planned one = new Planned(component, generation, now);
                    staged.add(one);
                    undecided.add(one);
                }
            } catch (Unusable | IOException e) {
                planned.forEach(component -> trouble(
                        component,
                        FailureKind.PLUGIN,
                        "plugin file " + file + " " + e.getMessage(),
                        required(component, Optional.of(generation(file)))));
                revert(file);
            }
        }

        /** An installed copy that was not started yet. */
        private Generation unused(Path file) throws Unusable {
            Generation known = generation(file);
            if (known.unused()) {
                return known;
            }
            Generation another = install(file);
            if (!another.sha256().equals(known.sha256())) {
                remove(another);
                throw new Unusable("changed while it was read, it is read again");
            }
            return another;
        }

        private Generation generation(Path file) {
            return seen.get(file).generation().orElseThrow();
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
                if (now - begun >= OPTIONAL_NANOS
                        && undecided.stream()
                                .noneMatch(
                                        one -> Deployment.required(one.component(), Optional.of(one.generation())))) {
                    break;
                }
                if (now - named >= TimeUnit.MILLISECONDS.toNanos(limits.slowMillis())) {
                    named = now;
                    undecided.forEach(one -> nameSlow(one, TimeUnit.NANOSECONDS.toSeconds(now - begun)));
                }
                await(LOOK_AGAIN_MILLIS);
            }
            for (Planned one : undecided) {
                next.remove(one.generation().file());
                late.add(new Late(one));
            }
        }

        /** A change while requests run: it succeeds soon or not at all. */
        void awaitChange() throws InterruptedException {
            long begun = System.nanoTime();
            while (!undecided.isEmpty()
                    && System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(limits.changeMillis())) {
                undecided.removeIf(this::decided);
                if (!undecided.isEmpty()) {
                    await(LOOK_AGAIN_MILLIS);
                }
            }
            undecided.forEach(one -> abandoned.add(one.generation()));
            List.copyOf(undecided)
                    .forEach(one -> fails(one.component(), one.generation(), slow(one), FailureKind.PLUGIN));
            undecided.clear();
        }

        private boolean decided(Planned one) {
            Optional<Optional<String>> failure = outcome(one, wanted);
            failure.ifPresent(line ->
                    line.ifPresent(text -> fails(one.component(), one.generation(), text, FailureKind.CONFIGURATION)));
            return failure.isPresent();
        }

        private void fails(PluginPlan.Component component, Generation generation, String line, FailureKind kind) {
            trouble(component, kind, line, required(component, Optional.of(generation)));
            revert(generation.file());
        }

        /** What ran before goes on. */
        private void revert(Path file) {
            next.remove(file);
            Optional.ofNullable(running.get(file)).ifPresent(before -> next.put(file, before));
        }

        private void trouble(PluginPlan.Component component, FailureKind kind, String line, boolean required) {
            troubles.add(new Trouble(component, kind, line, required));
        }

        /** All of it at once takes the place of all that was. */
        void commit() {
            inForce = wanted;
            Map<String, String> lines = new HashMap<>();
            for (Trouble trouble : troubles) {
                Optional<Generation> before = next.values().stream()
                        .filter(generation -> generation
                                .wanted()
                                .containsKey(trouble.component().kind()))
                        .findFirst();
                String line = trouble.line()
                        + before.map(generation -> "; version " + generation.version()
                                        + " goes on with the configuration that it has")
                                .orElse("");
                String earlier = lines.putIfAbsent(trouble.component().kind(), line);
                if (earlier == null
                        && !line.equals(
                                Deployment.this.troubles.get(trouble.component().kind()))) {
                    log.log(
                            EventLog.Level.ERROR,
                            PluginHostComponent.TARGET,
                            before.isPresent() ? "plugin_update_failed" : "plugin_quarantined",
                            line,
                            "plugin",
                            trouble.component().kind());
                }
            }
            Deployment.this.troubles = Map.copyOf(lines);
            List<Generation> before = List.copyOf(running.values());
            tell(before);
            running.clear();
            running.putAll(next);
            Set<Generation> gone = new LinkedHashSet<>(before);
            staged.forEach(one -> gone.add(one.generation()));
            gone.removeAll(next.values());
            late.forEach(one -> gone.remove(one.planned().generation()));
            retire(gone);
        }

        /** Nothing of it was seen by any request. */
        void drop() {
            Set<Generation> gone = new LinkedHashSet<>();
            staged.forEach(one -> gone.add(one.generation()));
            gone.removeAll(running.values());
            gone.forEach(Deployment.this::remove);
        }

        private void tell(List<Generation> before) {
            next.forEach((file, generation) -> {
                if (!before.contains(generation)) {
                    Optional<Generation> old = before.stream()
                            .filter(one -> one.file().equals(file))
                            .findFirst();
                    log.log(
                            EventLog.Level.INFO,
                            PluginHostComponent.TARGET,
                            old.isPresent() ? "plugin_updated" : "plugin_started",
                            "plugin " + names(generation) + " " + generation.version() + " of " + file + " is active"
                                    + old.map(one -> ", it replaces version " + one.version())
                                            .orElse(""),
                            "plugin",
                            names(generation));
                }
            });
            before.stream()
                    .filter(one -> !next.containsKey(one.file()))
                    .forEach(one -> log.log(
                            EventLog.Level.INFO,
                            PluginHostComponent.TARGET,
                            "plugin_removed",
                            "plugin " + names(one) + " " + one.version() + " of " + one.file()
                                    + " takes no more requests",
                            "plugin",
                            names(one)));
        }

        /** While a worker starts, its status names what it waits for. */
        void describeStarting() {
            describe(undecided.stream().map(Planned::generation).toList());
        }
    }

    /** Shows what runs now; what ran before ends with the last request that may use it. */
    private void retire(Set<Generation> gone) {
        Set<Bundle> bundles = new HashSet<>();
        running.values().forEach(generation -> bundles.add(generation.bundle()));
        describe(late.stream().map(one -> one.planned().generation()).toList());
        CompletableFuture<Void> unused = show.apply(bundles);
        gone.forEach(generation -> unused.thenRun(() -> remove(generation)));
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
                        plugin + " did not come to an end within " + limits.stopMillis() / 1_000
                                + " s and is abandoned: its threads stay until the worker ends; correct the plugin");
        }
    }

    private void left(Generation generation, String line) {
        log.log(
                EventLog.Level.ERROR,
                PluginHostComponent.TARGET,
                "plugin_abandoned",
                line,
                "plugin",
                names(generation));
        synchronized (blocked) {
            blocked.put(generation.file(), line);
        }
    }

    /** A plugin may end by itself, such as when another one goes that it refers to, and it may begin or cease to fail. */
    private void lookAtRunning() {
        Map<String, String> now = new TreeMap<>();
        running.values()
                .forEach(generation -> generation.wanted().keySet().forEach(kind -> {
                    if (!(components.of(generation.bundle(), kind) instanceof ComponentStates.Active)) {
                        now.put(
                                kind,
                                generation.file() + ": plugin \"" + kind + "\" has ended by itself"
                                        + components.waitingFor(generation.bundle(), kind)
                                        + "; what it decides about is refused until it is back");
                    }
                }));
        now.forEach((kind, line) -> {
            if (!ended.containsKey(kind)) {
                log.log(EventLog.Level.ERROR, PluginHostComponent.TARGET, "plugin_ended", line, "plugin", kind);
            }
        });
        ended = now;
        describe(late.stream().map(one -> one.planned().generation()).toList());
    }

    /** Plugins that the worker's start did not wait for. */
    private void settleLate() {
        boolean changed = false;
        for (Late one : List.copyOf(late)) {
            Planned planned = one.planned();
            Optional<Optional<String>> failure = outcome(planned, inForce);
            boolean given = System.nanoTime() - planned.begun() >= TimeUnit.MILLISECONDS.toNanos(limits.slowMillis());
            if (failure.isEmpty() && !given) {
                continue;
            }
            changed = true;
            late.remove(one);
            Optional<String> line = failure.orElseGet(() -> Optional.of(slow(planned)));
            if (failure.isEmpty()) {
                abandoned.add(planned.generation());
            }
            if (line.isEmpty()) {
                running.put(planned.generation().file(), planned.generation());
            } else {
                Map<String, String> lines = new HashMap<>(troubles);
                lines.put(planned.component().kind(), line.get());
                troubles = Map.copyOf(lines);
                log.log(
                        EventLog.Level.ERROR,
                        PluginHostComponent.TARGET,
                        "plugin_quarantined",
                        line.get(),
                        "plugin",
                        planned.component().kind());
                remove(planned.generation());
            }
        }
        if (changed) {
            retire(Set.of());
        }
    }

    // ---- what came of a start

    /** Empty while it goes on; then empty inside when the component runs, else why not. */
    private Optional<Optional<String>> outcome(Planned one, PluginPlan of) {
        Generation generation = one.generation();
        String kind = one.component().kind();
        Optional<String> started = generation.started();
        if (started.isEmpty()) {
            return Optional.empty();
        }
        if (!started.get().isEmpty()) {
            return failed(generation.file() + ": plugin \"" + kind + "\" " + started.get());
        }
        int registered = Optional.ofNullable(generation.bundle().getRegisteredServices())
                .map(services -> services.length)
                .orElse(0);
        if (registered > MAX_REGISTERED) {
            return failed(generation.file() + ": plugin \"" + kind + "\" registers " + registered
                    + " services, more than the " + MAX_REGISTERED + " that one plugin may have: correct the plugin");
        }
        return switch (components.of(generation.bundle(), kind)) {
            case ComponentStates.Pending _ -> Optional.empty();
            // Active by our use of it, and about to be in the snapshot.
            case ComponentStates.Active _ ->
                serves.test(generation.bundle()) ? Optional.of(Optional.empty()) : Optional.empty();
            case ComponentStates.Absent _ ->
                failed(generation.file() + ": the bundle says that it provides the plugin kind \"" + kind
                        + "\" but has no component with that configuration PID; correct the plugin");
            case ComponentStates.Failed(String stackTrace) -> failed(activationLine(one, of, stackTrace));
        };
    }

    private static Optional<Optional<String>> failed(String line) {
        return Optional.of(Optional.of(line));
    }

    private static String activationLine(Planned one, PluginPlan of, String stackTrace) {
        PluginPlan.Component component = one.component();
        String kind = component.kind();
        Optional<Failures.BadValue> bad = Failures.badValue(stackTrace);
        if (bad.isPresent()) {
            PluginPlan.Position position = of.position(kind, bad.get().key()).orElse(component.position());
            return position + ": plugin \"" + kind + "\": " + bad.get().key() + ": "
                    + bad.get().message();
        }
        return component.position() + ": plugin \"" + kind + "\" ("
                + one.generation().file() + ") does not start: " + Failures.cause(stackTrace)
                + "; correct the plugin or remove the component";
    }

    private String slow(Planned one) {
        return one.component().position() + ": plugin \"" + one.component().kind() + "\" ("
                + one.generation().file() + ") is not active after "
                + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - one.begun()) + " s and is abandoned"
                + components.waitingFor(
                        one.generation().bundle(), one.component().kind())
                + "; correct the plugin or remove the component";
    }

    private void nameSlow(Planned one, long seconds) {
        log.log(
                EventLog.Level.WARN,
                PluginHostComponent.TARGET,
                "plugin_slow",
                "plugin " + one.component().kind() + " is not active after " + seconds
                        + " seconds, the worker waits for it"
                        + components.waitingFor(
                                one.generation().bundle(), one.component().kind()),
                "plugin",
                one.component().kind());
    }

    /** A plugin that only observes may be missing; every other one must not. */
    private static boolean required(PluginPlan.Component component, Optional<Generation> provider) {
        return component
                .required()
                .orElse(!provider.flatMap(generation -> generation.kind(component.kind()))
                        .map(Generation.Kind::observer)
                        .orElse(false));
    }

    private static String names(Generation generation) {
        return generation.kinds().isEmpty()
                ? generation.bundle().getSymbolicName()
                : String.join(
                        ", ",
                        generation.kinds().stream().map(Generation.Kind::name).toList());
    }

    // ---- status

    private void describe(List<Generation> starting) {
        Map<String, PluginStatus> all = new TreeMap<>();
        for (Entry entry : applied) {
            if (entry instanceof Entry.Ignored(Path file, String reason)) {
                put(all, new PluginStatus("", "", State.IDLE, file.toString(), reason));
            }
        }
        Set<String> told = new HashSet<>();
        running.values()
                .forEach(generation -> generation.wanted().keySet().forEach(kind -> {
                    told.add(kind);
                    put(all, describe(kind, generation));
                }));
        starting.forEach(generation -> generation.wanted().keySet().forEach(kind -> {
            told.add(kind);
            put(all, status(kind, generation, State.STARTING, ""));
        }));
        seen.forEach((file, one) -> {
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
        synchronized (blocked) {
            blocked.forEach(
                    (file, line) -> put(all, new PluginStatus("", "", State.QUARANTINED, file.toString(), line)));
        }
        rejected.ifPresent(file -> put(all, file));
        List<PluginStatus> now = List.copyOf(all.values());
        if (!now.equals(status)) {
            status = now;
            statusChanged.run();
        }
    }

    private PluginStatus describe(String kind, Generation generation) {
        if (ended.containsKey(kind)) {
            return status(kind, generation, State.QUARANTINED, ended.get(kind));
        }
        String failure = failing.apply(generation.bundle(), kind);
        return failure.isEmpty()
                ? status(kind, generation, State.ACTIVE, remarks(kind))
                : status(kind, generation, State.FAILING, failure);
    }

    /** What there is to say about a plugin that serves. */
    private String remarks(String kind) {
        return Stream.concat(Optional.ofNullable(troubles.get(kind)).stream(), stuck.line(kind).stream())
                .collect(Collectors.joining("; "));
    }

    private static PluginStatus status(String kind, Generation generation, State state, String reason) {
        return new PluginStatus(
                kind, generation.version(), state, generation.file().toString(), reason);
    }

    private static void put(Map<String, PluginStatus> all, PluginStatus one) {
        all.put(one.kind() + "\n" + one.file(), one);
    }

    // ---- looking without starting

    /** What a worker would find, as far as that can be told without running any code of a plugin. */
    List<PluginCheck.Finding> check() {
        look(files.look());
        PluginPlan now = newest();
        Change change = new Change(now);
        List<PluginCheck.Finding> findings = new ArrayList<>();
        Set<Generation> taken = new HashSet<>();
        for (PluginPlan.Component component : now.components()) {
            Optional<Generation> provider = change.provider(component).map(change::generation);
            Optional<String> trouble = change.troubles.stream()
                    .filter(one -> one.component() == component)
                    .map(Trouble::line)
                    .findFirst()
                    .or(() -> provider.flatMap(generation -> unusable(generation)
                            .map(reason -> generation.file() + ": plugin \"" + component.kind() + "\" " + reason)));
            Optional<Generation> shown = provider.or(() -> seen.values().stream()
                    .flatMap(one -> one.generation().stream())
                    .filter(generation -> generation.kind(component.kind()).isPresent())
                    .findFirst());
            shown.ifPresent(taken::add);
            findings.add(finding(component.kind(), shown, trouble.orElse(""), Optional.of(component)));
        }
        seen.forEach((file, one) -> {
            one.generation().filter(generation -> !taken.contains(generation)).ifPresent(generation -> {
                String trouble = unusable(generation)
                        .map(reason -> "plugin file " + file + " " + reason)
                        .orElse("");
                if (generation.kinds().isEmpty()) {
                    findings.add(finding("", Optional.of(generation), trouble, Optional.empty()));
                }
                generation
                        .kinds()
                        .forEach(kind ->
                                findings.add(finding(kind.name(), Optional.of(generation), trouble, Optional.empty())));
            });
            if (!one.refusal().isEmpty()) {
                findings.add(new PluginCheck.Finding(
                        new PluginStatus(
                                "",
                                "",
                                State.QUARANTINED,
                                file.toString(),
                                "plugin file " + file + " " + one.refusal()),
                        "",
                        "",
                        Optional.empty(),
                        false));
            }
        });
        for (Entry entry : applied) {
            if (entry instanceof Entry.Ignored(Path file, String reason)) {
                findings.add(new PluginCheck.Finding(
                        new PluginStatus("", "", State.IDLE, file.toString(), reason),
                        "",
                        "",
                        Optional.empty(),
                        false));
            }
        }
        return List.copyOf(findings);
    }

    /** The same for one jar, wherever it lies. */
    List<PluginCheck.Finding> check(Path jar) {
        try {
            Generation generation = install(jar);
            String trouble = generation
                    .refusal()
                    .or(() -> unusable(generation))
                    .or(() -> generation.kinds().isEmpty()
                            ? Optional.of("provides no plugin kind: annotate its component with @PluginKind")
                            : Optional.empty())
                    .map(reason -> "plugin file " + jar + " " + reason)
                    .orElse("");
            List<PluginCheck.Finding> findings = new ArrayList<>();
            for (Generation.Kind kind : generation.kinds()) {
                findings.add(finding(kind.name(), Optional.of(generation), trouble, Optional.empty()));
            }
            return findings.isEmpty()
                    ? List.of(finding("", Optional.of(generation), trouble, Optional.empty()))
                    : List.copyOf(findings);
        } catch (Unusable e) {
            return List.of(new PluginCheck.Finding(
                    new PluginStatus(
                            "", "", State.QUARANTINED, jar.toString(), "plugin file " + jar + " " + e.getMessage()),
                    "",
                    "",
                    Optional.empty(),
                    false));
        }
    }

    private static Optional<String> unusable(Generation generation) {
        return generation
                .unresolved()
                .or(() -> generation.kinds().isEmpty() || generation.hasComponents()
                        ? Optional.empty()
                        : Optional.of("has no component: its manifest lacks Service-Component; build it with bnd"));
    }

    private static PluginCheck.Finding finding(
            String kind, Optional<Generation> generation, String trouble, Optional<PluginPlan.Component> component) {
        return new PluginCheck.Finding(
                new PluginStatus(
                        kind,
                        generation.map(Generation::version).orElse(""),
                        trouble.isEmpty() ? State.IDLE : State.QUARANTINED,
                        generation.map(one -> one.file().toString()).orElse(""),
                        trouble),
                generation.map(one -> one.bundle().getSymbolicName()).orElse(""),
                generation.map(Generation::sha256).orElse(""),
                component,
                component.isPresent() && required(component.get(), generation));
    }

    // ---- the end

    /** Stops and uninstalls everything, each plugin for as long as it may take. */
    void retireAll() {
        Set<Generation> all = new LinkedHashSet<>(running.values());
        seen.values().forEach(one -> one.generation().ifPresent(all::add));
        late.forEach(one -> all.add(one.planned().generation()));
        CompletableFuture.allOf(all.stream()
                        .map(generation -> generation.retire(limits.stopMillis()))
                        .toArray(CompletableFuture[]::new))
                .join();
    }
}
