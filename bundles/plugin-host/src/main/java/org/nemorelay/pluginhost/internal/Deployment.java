package org.nemorelay.pluginhost.internal;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.nemorelay.config.BundleFolders;
import org.nemorelay.config.BundleFolders.Entry;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.config.Stillness;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.internal.Change.Abandoned;
import org.nemorelay.pluginhost.internal.Starts.Planned;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.hooks.resolver.ResolverHook;
import org.osgi.framework.hooks.resolver.ResolverHookFactory;
import org.osgi.framework.wiring.BundleCapability;
import org.osgi.framework.wiring.BundleRequirement;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.service.cm.ConfigurationAdmin;

/**
 * From folders and plan to running plugins, in steps that each succeed or change nothing: what is new starts beside what
 * runs, then all of it takes the place of all of that at once, and what was replaced ends with its last request. Of one
 * thread, {@link #plan}, {@link #rejected}, {@link #wake}, {@link #status}, {@link #planned} and {@link #inForce} excepted.
 */
final class Deployment {
    private static final long LOOK_MILLIS = 1_000;

    /** How long plugins may take.
     * @param changeMillis to start, when they are installed or changed while requests run
     * @param stopMillis to stop
     * @param closeMillis of that, for what one service of it was given
     * @param slowMillis after which one that a worker's start waits for is named, again and again
     * @param settledMillis that nothing may have changed before a change counts: copies come in pieces, and changes together */
    record Limits(long changeMillis, long stopMillis, long closeMillis, long slowMillis, long settledMillis) {
        static final Limits DEFAULT = new Limits(30_000, 15_000, 5_000, 60_000, 600);
    }

    final BundleContext context;
    final PluginFiles files;
    final Departures departures;
    final Starts starts;
    final ConfigurationAdmin admin;
    private final ComponentStates components;
    private final Report report;
    private final Function<Set<Bundle>, CompletableFuture<Void>> show;
    private final Runnable statusChanged;
    final Limits limits;
    final EventLog log;

    private volatile List<PluginStatus> status = List.of();
    private volatile Map<String, Boolean> planned = Map.of();
    volatile Set<Bundle> obsolete = Set.of();
    volatile PluginPlan inForce;
    private volatile Optional<PluginStatus> rejected = Optional.empty();

    // Guarded by this.
    private PluginPlan plan;
    private boolean woken;

    // Of the host's thread.
    private PluginPlan tried;
    private PluginPlan described;
    private Stillness<Looked> state;
    /** What is in force; each kind in one of them. */
    final Set<Generation> running = new LinkedHashSet<>();

    /** What is being started and not waited for. */
    final List<Planned> late = new ArrayList<>();

    /** What goes on unnamed, until what may be meant to take its place is active. */
    Set<Generation> kept = Set.of();

    final List<Abandoned> abandoned = new ArrayList<>();

    /** A plan that is not in force, and why, as it was told. */
    private Rejected lastRejected = new Rejected(null, List.of());

    private record Rejected(PluginPlan plan, List<String> lines) {}

    Map<String, String> troubles = Map.of();
    private Map<String, String> ended = Map.of();

    /** @param serves whether all services of a bundle are in use
     * @param failing why a kind of a bundle fails at what it is given; empty while it does not
     * @param holding what there is to say of a kind for whose sake requests are held
     * @param show makes the services of these bundles the snapshot; completes when no request uses an earlier one */
    Deployment(
            BundleContext context,
            BundleFolders folders,
            ConfigurationAdmin admin,
            ComponentStates components,
            Departures departures,
            StuckCalls stuck,
            Predicate<Bundle> serves,
            BiFunction<Bundle, String, String> failing,
            Function<String, Optional<String>> holding,
            Function<Set<Bundle>, CompletableFuture<Void>> show,
            Runnable statusChanged,
            Limits limits,
            EventLog log) {
        this.context = context;
        this.log = new LogWhileRunning(context, log);
        this.departures = departures;
        this.files = new PluginFiles(context, folders, departures, this.log);
        this.starts = new Starts(components, serves, this.log);
        this.report = new Report(files, departures, stuck, failing, holding);
        this.admin = admin;
        this.components = components;
        this.show = show;
        this.statusChanged = statusChanged;
        this.limits = limits;
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

    /** Whether each kind of the plan in force is required. */
    Map<String, Boolean> planned() {
        return planned;
    }

    /** Something has changed that a wait may be for. */
    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    /** Keeps replaced bundles, and of plugins what the relay does not offer them, out of what a bundle can be wired to. */
    ResolverHookFactory resolverHook() {
        return triggers -> new ResolverHook() {
            @Override
            public void filterMatches(BundleRequirement requirement, Collection<BundleCapability> candidates) {
                candidates.removeIf(candidate -> {
                    Bundle provider = candidate.getRevision().getBundle();
                    return !provider.equals(requirement.getRevision().getBundle()) && obsolete.contains(provider)
                            || Offer.hidden(requirement, candidate);
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
        state = new Stillness<>(look());
        Change change;
        do {
            tried = state.last().plan();
            if (!tried.problems().isEmpty()) {
                describe(List.of());
                throw new RelayException(FailureKind.CONFIGURATION, String.join("; ", tried.problems()));
            }
            take(state.last().entries());
            change = new Change(this, tried, Change.Waits.FOR_ALL);
            change.stage();
            change.describeStarting();
        } while (!change.awaitStart());
        Optional<Change.Trouble> fatal =
                change.troubles().stream().filter(Change.Trouble::required).findFirst();
        change.commit();
        if (fatal.isPresent()) {
            throw new RelayException(
                    fatal.get().kind(),
                    String.join(
                            "; ",
                            change.troubles().stream()
                                    .filter(Change.Trouble::required)
                                    .map(Change.Trouble::line)
                                    .distinct()
                                    .toList()));
        }
        log.log(
                EventLog.Level.INFO,
                PluginHostComponent.TARGET,
                "plugins_ready",
                tried.components().size() + " plugins are configured");
    }

    // ---- changes while requests run

    /** Waits for a change and makes it, unless another is wanted before it could be made. */
    void follow() throws InterruptedException {
        Looked wanted = settled();
        take(wanted.entries());
        PluginPlan newest = wanted.plan();
        boolean other = newest != inForce;
        tried = newest;
        Change change = new Change(this, newest, Change.Waits.FOR_WHAT_IT_STARTS);
        change.stage();
        if (!change.awaitChange()) {
            return;
        }
        Optional<Change.Trouble> wrong = newest == inForce
                ? Optional.empty()
                : change.troubles().stream()
                        .filter(trouble -> change.asks(trouble.component()))
                        .findFirst();
        if (wrong.isEmpty()) {
            lastRejected = new Rejected(null, List.of());
            change.commit();
            if (other) {
                log.log(EventLog.Level.INFO, PluginHostComponent.TARGET, "plugins_changed", "plugins.toml is in force");
            }
            return;
        }
        change.drop();
        List<String> lines = new ArrayList<>();
        for (Change.Trouble trouble : change.troubles()) {
            if (change.asks(trouble.component())) {
                lines.add(trouble.line());
            }
            boolean known =
                    lastRejected.plan() == newest && lastRejected.lines().contains(trouble.line());
            if (change.asks(trouble.component()) && !known) {
                log.log(
                        EventLog.Level.ERROR,
                        PluginHostComponent.TARGET,
                        "plugins_rejected",
                        trouble.line() + "; plugins.toml changes nothing until this is corrected",
                        "plugin",
                        trouble.component().kind());
            }
        }
        lastRejected = new Rejected(newest, lines);
        Change again = new Change(this, inForce, Change.Waits.FOR_WHAT_IT_STARTS);
        again.stage();
        if (!again.awaitChange()) {
            return;
        }
        change.troubles().stream()
                .filter(trouble -> change.asks(trouble.component()))
                .forEach(again::tell);
        again.commit();
    }

    private void take(List<Entry> entries) {
        Set<Generation> used = new HashSet<>(running);
        late.forEach(one -> used.add(one.generation()));
        files.take(entries, used);
    }

    /** What is wanted and what there is for it. */
    private record Looked(List<Entry> entries, PluginPlan plan) {}

    /**
     * What is wanted, once that has changed and has stood still for a while; the same as before when the start of something
     * that was not waited for is decided.
     */
    private Looked settled() throws InterruptedException {
        lookAtRunning();
        while (true) {
            if (overtaken()) {
                return state.last();
            }
            if (late.stream().anyMatch(one -> !goesOn(one.generation()))) {
                return new Looked(files.applied(), tried);
            }
            boolean soon = differs() || !late.isEmpty();
            if (await(soon ? Math.min(100, limits.settledMillis()) : LOOK_MILLIS)) {
                lookAtRunning();
            }
            departures.lookAtRemains();
        }
    }

    /** Whether something else is wanted than what was made or is being made, and has been for a while. */
    boolean overtaken() {
        state.seen(look());
        return differs() && state.stoodFor(limits.settledMillis());
    }

    private boolean differs() {
        return !state.last().entries().equals(files.applied()) || state.last().plan() != tried;
    }

    private Looked look() {
        return new Looked(files.look(), newest());
    }

    /** Whether it is not decided yet what comes of the start of something that was not waited for. */
    boolean goesOn(Generation generation) {
        boolean open = false;
        for (Planned one : late) {
            if (one.generation() == generation) {
                Optional<Optional<String>> outcome = starts.outcome(one, inForce);
                if (outcome.isEmpty() ? one.late() : outcome.get().isPresent()) {
                    return false;
                }
                open |= outcome.isEmpty();
            }
        }
        return open;
    }

    /** It took too long; returns the line that says so. */
    String abandon(Planned one) {
        String line = starts.slow(one);
        abandoned.add(new Abandoned(one.generation(), one.component().kind(), line));
        return line;
    }

    private synchronized PluginPlan newest() {
        return plan;
    }

    /** Returns whether something has changed meanwhile. */
    synchronized boolean await(long millis) throws InterruptedException {
        if (!woken) {
            wait(millis);
        }
        boolean changed = woken;
        woken = false;
        return changed;
    }

    /** Shows what runs now; what ran before ends with the last request that may use it. */
    void retire(Set<Generation> gone) {
        Set<Bundle> bundles = new HashSet<>();
        running.forEach(generation -> bundles.add(generation.bundle()));
        describe(List.of());
        CompletableFuture<Void> unused = show.apply(bundles);
        gone.forEach(generation -> unused.thenRun(() -> departures.remove(generation)));
    }

    /** A plugin may end by itself, such as when another one goes that it refers to, and it may begin or cease to fail. */
    private void lookAtRunning() {
        Map<String, String> now = new TreeMap<>();
        running.forEach(generation -> generation.wanted().keySet().forEach(kind -> {
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
        describe(List.of());
    }

    // ---- status

    /** @param starting beside what is started and not waited for */
    void describe(List<Generation> starting) {
        Set<Generation> all = new LinkedHashSet<>(starting);
        late.forEach(one -> all.add(one.generation()));
        all.removeAll(running);
        boolean other = inForce != described;
        described = inForce;
        planned = required(List.copyOf(all));
        List<PluginStatus> now = report.of(running, List.copyOf(all), troubles, ended, rejected);
        if (other || !now.equals(status)) {
            status = now;
            statusChanged.run();
        }
    }

    private Map<String, Boolean> required(List<Generation> starting) {
        Map<String, Boolean> required = new TreeMap<>();
        for (PluginPlan.Component component : inForce.components()) {
            Optional<Generation> provider = Stream.of(running, starting, files.generations())
                    .flatMap(Collection::stream)
                    .filter(generation -> generation.kind(component.kind()).isPresent())
                    .findFirst();
            required.put(component.kind(), Starts.required(component, provider));
        }
        return Collections.unmodifiableMap(required);
    }

    // ---- the end

    /** Stops and uninstalls everything, each plugin for as long as it may take. */
    void retireAll() {
        each(departures::remove);
    }

    /** Stops everything, each plugin for as long as it may take: the framework would stop one after the other. */
    void stopAll() {
        each(departures::stop);
    }

    private void each(Function<Generation, CompletableFuture<?>> end) {
        Set<Generation> all = new LinkedHashSet<>(running);
        all.addAll(files.generations());
        late.forEach(one -> all.add(one.generation()));
        CompletableFuture.allOf(all.stream().map(end).toArray(CompletableFuture[]::new))
                .join();
    }
}
