package org.nemorelay.pluginhost.internal;

import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.nemorelay.config.BundleFolders;
import org.nemorelay.config.EffectiveSettings;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.pluginhost.EventSink;
import org.nemorelay.pluginhost.PluginHost;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PolicyGate;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceRegistration;
import org.osgi.framework.hooks.resolver.ResolverHookFactory;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.osgi.service.component.runtime.ServiceComponentRuntime;

/**
 * Brings up the plugins that {@link PluginPlan} names and follows what changes, on one thread of its own; {@link
 * Deployment} does the work. Services of a plugin are part of the snapshot from the moment at which the whole change that
 * it belongs to has succeeded until that at which another has.
 */
@Component(service = PluginHost.class)
public final class PluginHostComponent implements PluginHost {
    static final String TARGET = "nemo_relay.plugins";
    static final String KIND_PROPERTY = "nemorelay.plugin.kind";

    /** A plan as it is recorded, which is asked for at every request. */
    private record Recorded(PluginPlan plan, Map<String, Object> values) {}

    private final EventLog log;
    private final Deployment deployment;
    private final PluginServices<EventSubscriber, EventSink> sinks;
    private final PluginServices<HookPolicy, PolicyGate> policies;
    private final StageServices stages;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private final Epochs epochs = new Epochs();
    private final ServiceRegistration<ResolverHookFactory> hook;
    private final BundleContext context;
    private final Thread thread;
    private volatile Set<Bundle> shown = Set.of();
    private volatile Snapshot snapshot = Snapshot.NONE;
    private volatile Optional<Recorded> recorded = Optional.empty();

    @Activate
    public PluginHostComponent(
            BundleContext context,
            @Reference LaunchOptions options,
            @Reference ServiceComponentRuntime runtime,
            @Reference ConfigurationAdmin configurations,
            @Reference EventLog log) {
        this(context, options, runtime, configurations, log, Deployment.Limits.DEFAULT);
    }

    PluginHostComponent(
            BundleContext context,
            LaunchOptions options,
            ServiceComponentRuntime runtime,
            ConfigurationAdmin configurations,
            EventLog log,
            Deployment.Limits limits) {
        this.context = context;
        this.log = log;
        StuckCalls stuck = new StuckCalls(this::troubleChanged);
        Departures departures =
                new Departures(limits.stopMillis(), new LogWhileRunning(context, log), log, this::troubleChanged);
        this.sinks = new PluginServices<>(
                context,
                departures::left,
                limits.closeMillis(),
                EventSubscriber.class,
                (name, activation, started) -> new SubscriberThread(
                        name, log, activation, started, this::troubleChanged, SubscriberThread.IDLE_NANOS),
                this::servicesChanged);
        this.policies = new PluginServices<>(
                context,
                departures::left,
                limits.closeMillis(),
                HookPolicy.class,
                (name, activation, started) -> {
                    StuckCalls.Service calls = stuck.of(name);
                    PolicyThreads threads = new PolicyThreads(name, log, activation, started, calls);
                    return millis -> {
                        calls.over();
                        return threads.close(millis);
                    };
                },
                this::servicesChanged);
        this.stages =
                new StageServices(context, log, departures::left, limits.closeMillis(), this::servicesChanged, stuck);
        this.deployment = new Deployment(
                context,
                folders(options),
                configurations,
                new ComponentStates(runtime),
                departures,
                stuck,
                bundle -> sinks.serve(bundle) && policies.serve(bundle) && stages.serve(bundle),
                sinks::trouble,
                stages::remark,
                this::show,
                this::statusChanged,
                limits,
                log);
        this.hook = context.registerService(ResolverHookFactory.class, deployment.resolverHook(), null);
        this.thread = Thread.ofPlatform().name("plugin-host").daemon().unstarted(this::run);
    }

    /** Those of the tree and of the system; a system folder that must not be used is among the problems of the plan. */
    static BundleFolders folders(LaunchOptions options) {
        Path own = options.home().resolve("plugins");
        try {
            return new BundleFolders(options.home(), own, options.systemFolder().resolve("plugins"));
        } catch (RelayException e) {
            return new BundleFolders(options.home(), own);
        }
    }

    /** The plan of the moment; another one may take its place while requests run. */
    @Reference(policy = ReferencePolicy.DYNAMIC, updated = "updatedPlan")
    void setPlan(PluginPlan plan, Map<String, Object> properties) {
        deployment.plan(plan);
        updatedPlan(plan, properties);
    }

    /** Files that are not in force are told beside the plugins that still are. */
    void updatedPlan(PluginPlan plan, Map<String, Object> properties) {
        deployment.rejected(Optional.ofNullable((String) properties.get(PluginPlan.REJECTED))
                .map(reason -> new PluginStatus(
                        "",
                        "",
                        PluginStatus.State.QUARANTINED,
                        String.valueOf(properties.get(PluginPlan.REJECTED_FILE)),
                        reason)));
    }

    void unsetPlan(PluginPlan plan) {}

    @Activate
    void open() {
        sinks.open();
        policies.open();
        stages.open();
        thread.start();
    }

    @Deactivate
    void close() throws InterruptedException {
        thread.interrupt();
        thread.join(Deployment.Limits.DEFAULT.stopMillis());
        show(Set.of());
        Bundle framework = context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION);
        if (framework.getState() == Bundle.ACTIVE) {
            // Another host installs them again.
            deployment.retireAll();
        } else {
            deployment.stopAll();
        }
        stages.close();
        policies.close();
        sinks.close();
        hook.unregister();
    }

    @Override
    public CompletionStage<Void> ready() {
        return ready.minimalCompletionStage();
    }

    @Override
    public List<PluginStatus> status() {
        return deployment.status();
    }

    @Override
    public void onChange(Runnable listener) {
        listeners.add(listener);
    }

    @Override
    public Map<String, Object> configuration() {
        PluginPlan plan = deployment.inForce();
        Optional<Recorded> known = recorded.filter(one -> one.plan() == plan);
        if (known.isEmpty()) {
            known = Optional.of(new Recorded(plan, RecordedPlan.of(plan)));
            recorded = known;
        }
        return known.get().values();
    }

    @Override
    public Map<String, Boolean> planned() {
        return deployment.planned();
    }

    @Override
    public List<EffectiveSettings.Setting> settings() {
        PluginPlan plan = deployment.inForce();
        return plan.components().stream()
                .map(PluginPlan.Component::kind)
                .flatMap(kind -> RecordedPlan.values(plan, kind).entrySet().stream()
                        .map(entry -> new EffectiveSettings.Setting(
                                kind + "." + entry.getKey(),
                                Optional.of(entry.getValue()),
                                plan.position(kind, entry.getKey())
                                        .map(Object::toString)
                                        .orElse(""))))
                .toList();
    }

    @Override
    public Use enter() {
        return epochs.enter();
    }

    @Override
    public Snapshot snapshot() {
        return snapshot;
    }

    private void run() {
        try {
            deployment.begin();
            ready.complete(null);
        } catch (RelayException e) {
            ready.completeExceptionally(e);
            return;
        } catch (InterruptedException e) {
            ready.completeExceptionally(new RelayException(FailureKind.PLUGIN, "the plugin host was stopped"));
            return;
        } catch (RuntimeException | Error e) {
            ready.completeExceptionally(
                    new RelayException(FailureKind.INTERNAL, "the plugin host failed: " + Reasons.defect(e), e));
            return;
        }
        while (true) {
            try {
                deployment.follow();
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException | Error e) {
                log.log(
                        EventLog.Level.ERROR,
                        TARGET,
                        "plugin_host_failed",
                        "a change of plugins failed: " + Reasons.defect(e));
            }
        }
    }

    /** One new snapshot of the services of these bundles; completes when no request uses an earlier one. */
    private CompletableFuture<Void> show(Set<Bundle> bundles) {
        shown = Collections.unmodifiableSet(new HashSet<>(bundles));
        servicesChanged();
        return epochs.advance();
    }

    private synchronized void servicesChanged() {
        snapshot = new Snapshot(
                sinks.serving(shown::contains), policies.serving(shown::contains), stages.serving(shown::contains));
        deployment.wake();
    }

    private void troubleChanged() {
        deployment.wake();
    }

    private void statusChanged() {
        listeners.forEach(Runnable::run);
    }
}
