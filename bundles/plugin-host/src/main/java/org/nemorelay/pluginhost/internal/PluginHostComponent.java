package org.nemorelay.pluginhost.internal;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginKind;
import org.nemorelay.pluginhost.EventSink;
import org.nemorelay.pluginhost.PluginHost;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.nemorelay.pluginhost.PolicyGate;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.startlevel.BundleStartLevel;
import org.osgi.framework.wiring.BundleCapability;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.runtime.ServiceComponentRuntime;

/**
 * Brings up the plugins that {@link PluginPlan} names, on one thread of its own: look into the folders, install what
 * passes, start what is planned, then wait until Declarative Services has activated each planned configuration or says
 * why not.
 */
@Component(service = PluginHost.class)
public final class PluginHostComponent implements PluginHost {
    static final String TARGET = "nemo_relay.plugins";
    static final String KIND_PROPERTY = "nemorelay.plugin.kind";

    /** Below the relay's own bundles, so that these are stopped while plugins still take events. */
    private static final int START_LEVEL = 1;

    private static final long LOOK_AGAIN_MILLIS = 25;
    private static final long NAME_SLOW_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final BundleContext context;
    private final PluginPlan plan;
    private final PluginFiles files;
    private final EventLog log;
    private final ComponentStates components;
    private final PluginServices<EventSubscriber, EventSink> sinks;
    private final PluginServices<HookPolicy, PolicyGate> policies;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final Map<String, PluginStatus> status = new TreeMap<>();
    private final Thread thread;
    private volatile Snapshot snapshot = Snapshot.NONE;
    private boolean changed;

    /** A kind that a file in a plugin folder provides. */
    private record Provider(Path file, Bundle bundle, String kind, boolean observer) {
        String version() {
            return bundle.getVersion().toString();
        }
    }

    /** A planned component that has a provider. */
    private record Planned(PluginPlan.Component component, Provider provider) {}

    /** A planned component that does not run. */
    private record Failure(FailureKind kind, String line) {}

    @Activate
    public PluginHostComponent(
            BundleContext context,
            @Reference LaunchOptions options,
            @Reference PluginPlan plan,
            @Reference ServiceComponentRuntime runtime,
            @Reference EventLog log) {
        this.context = context;
        this.plan = plan;
        this.log = log;
        this.files = new PluginFiles(options.home(), options.systemFolder());
        this.components = new ComponentStates(runtime);
        this.sinks = new PluginServices<>(
                context,
                log,
                EventSubscriber.class,
                (name, activation, started) -> new SubscriberThread(name, log, activation, started),
                this::servicesChanged);
        this.policies = new PluginServices<>(
                context,
                log,
                HookPolicy.class,
                (name, activation, started) -> new PolicyThreads(name, log, activation, started),
                this::servicesChanged);
        this.thread = Thread.ofPlatform().name("plugin-host").daemon().unstarted(this::bringUp);
        sinks.open();
        policies.open();
        thread.start();
    }

    @Deactivate
    void close() throws InterruptedException {
        thread.interrupt();
        thread.join();
        policies.close();
        sinks.close();
    }

    @Override
    public CompletionStage<Void> ready() {
        return ready.minimalCompletionStage();
    }

    @Override
    public List<PluginStatus> status() {
        synchronized (status) {
            return List.copyOf(status.values());
        }
    }

    @Override
    public Map<String, Object> configuration() {
        return RecordedPlan.of(plan);
    }

    @Override
    public Snapshot snapshot() {
        return snapshot;
    }

    private void bringUp() {
        try {
            List<Failure> fatal = new ArrayList<>();
            settle(start(plan(install(), fatal), fatal), fatal);
            log.log(
                    EventLog.Level.INFO,
                    TARGET,
                    "plugins_ready",
                    plan.components().size() + " plugins are configured");
            ready.complete(null);
        } catch (RelayException e) {
            ready.completeExceptionally(e);
        } catch (InterruptedException e) {
            ready.completeExceptionally(new RelayException(FailureKind.PLUGIN, "the plugin host was stopped"));
        } catch (RuntimeException | Error e) {
            ready.completeExceptionally(new RelayException(FailureKind.INTERNAL, "the plugin host failed: " + e, e));
        }
    }

    private List<Provider> install() {
        List<Provider> providers = new ArrayList<>();
        for (PluginFiles.Candidate candidate : files.scan()) {
            if (candidate.refusal().isPresent()) {
                refuse(candidate.file(), candidate.refusal().get());
                continue;
            }
            try {
                providers.addAll(install(candidate.file()));
            } catch (BundleException e) {
                refuse(candidate.file(), "cannot be installed: " + Failures.line(e.getMessage()));
            }
        }
        return providers;
    }

    private List<Provider> install(Path file) throws BundleException {
        Bundle bundle = context.installBundle("reference:" + file.toUri());
        bundle.adapt(BundleStartLevel.class).setStartLevel(START_LEVEL);
        List<Provider> providers = new ArrayList<>();
        for (BundleCapability capability :
                bundle.adapt(BundleRevision.class).getDeclaredCapabilities(PluginKind.NAMESPACE)) {
            Map<String, Object> attributes = capability.getAttributes();
            String kind = String.valueOf(attributes.get("kind"));
            boolean observer = Boolean.parseBoolean(String.valueOf(attributes.get("observer")));
            Provider provider = new Provider(file, bundle, kind, observer);
            providers.add(provider);
            report(new PluginStatus(kind, provider.version(), State.IDLE, file.toString(), ""));
        }
        return providers;
    }

    private List<Planned> plan(List<Provider> providers, List<Failure> fatal) {
        List<Planned> planned = new ArrayList<>();
        for (PluginPlan.Component component : plan.components()) {
            List<Provider> fitting = providers.stream()
                    .filter(provider -> provider.kind().equals(component.kind()))
                    .toList();
            switch (fitting.size()) {
                case 0 -> {
                    String line = component.position() + ": no bundle in "
                            + String.join(
                                    " or ",
                                    files.folders().stream().map(Path::toString).toList())
                            + " provides the plugin kind \"" + component.kind()
                            + "\", put one there or remove the component";
                    report(new PluginStatus(component.kind(), "", State.QUARANTINED, "", line));
                    fatal.add(new Failure(FailureKind.CONFIGURATION, line));
                }
                case 1 -> planned.add(new Planned(component, fitting.getFirst()));
                default ->
                    fail(
                            new Planned(component, fitting.getFirst()),
                            component.position() + ": the plugin kind \"" + component.kind() + "\" is provided by "
                                    + String.join(
                                            " and ",
                                            fitting.stream()
                                                    .map(provider ->
                                                            provider.file().toString())
                                                    .toList())
                                    + ", remove one of them",
                            FailureKind.PLUGIN,
                            fatal);
            }
        }
        return planned;
    }

    private List<Planned> start(List<Planned> planned, List<Failure> fatal) {
        FrameworkWiring wiring =
                context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION).adapt(FrameworkWiring.class);
        List<Planned> started = new ArrayList<>();
        for (Planned plugin : planned) {
            Provider provider = plugin.provider();
            report(new PluginStatus(
                    provider.kind(),
                    provider.version(),
                    State.STARTING,
                    provider.file().toString(),
                    ""));
            try {
                provider.bundle().start();
                started.add(plugin);
            } catch (BundleException e) {
                fail(
                        plugin,
                        provider.file() + ": plugin \"" + provider.kind() + "\" "
                                + Failures.start(provider.bundle(), wiring, e),
                        FailureKind.PLUGIN,
                        fatal);
            }
        }
        return started;
    }

    /** Waits until no planned plugin is undecided, or a required one has failed. */
    private void settle(List<Planned> planned, List<Failure> fatal) throws InterruptedException {
        List<Planned> undecided = new ArrayList<>(planned);
        long begun = System.nanoTime();
        long named = begun;
        while (true) {
            undecided.removeIf(plugin -> decided(plugin, fatal));
            if (!fatal.isEmpty()) {
                throw new RelayException(
                        fatal.getFirst().kind(),
                        String.join("; ", fatal.stream().map(Failure::line).toList()));
            }
            if (undecided.isEmpty()) {
                return;
            }
            long now = System.nanoTime();
            if (now - named >= NAME_SLOW_NANOS) {
                named = now;
                nameSlow(undecided, TimeUnit.NANOSECONDS.toSeconds(now - begun));
            }
            await();
        }
    }

    private boolean decided(Planned plugin, List<Failure> fatal) {
        Provider provider = plugin.provider();
        return switch (components.of(provider.bundle(), provider.kind())) {
            case ComponentStates.Pending pending -> false;
            case ComponentStates.Active active -> {
                if (!sinks.serve(provider.bundle()) || !policies.serve(provider.bundle())) {
                    // Active by our use of it, and about to be in the snapshot.
                    yield false;
                }
                report(new PluginStatus(
                        provider.kind(),
                        provider.version(),
                        State.ACTIVE,
                        provider.file().toString(),
                        ""));
                yield true;
            }
            case ComponentStates.Absent absent -> {
                fail(
                        plugin,
                        provider.file() + ": the bundle says that it provides the plugin kind \"" + provider.kind()
                                + "\" but has no component with that configuration PID; correct the plugin",
                        FailureKind.PLUGIN,
                        fatal);
                yield true;
            }
            case ComponentStates.Failed(String stackTrace) -> {
                fail(plugin, activationLine(plugin, stackTrace), FailureKind.CONFIGURATION, fatal);
                yield true;
            }
        };
    }

    private String activationLine(Planned plugin, String stackTrace) {
        String kind = plugin.component().kind();
        Optional<Failures.BadValue> bad = Failures.badValue(stackTrace);
        if (bad.isPresent()) {
            PluginPlan.Position position = plan.position(kind, bad.get().key())
                    .orElse(plugin.component().position());
            return position + ": plugin \"" + kind + "\": " + bad.get().key() + ": "
                    + bad.get().message();
        }
        return plugin.component().position() + ": plugin \"" + kind + "\" ("
                + plugin.provider().file() + ") does not start: " + Failures.cause(stackTrace)
                + "; correct the plugin or remove the component";
    }

    /** A plugin that only observes may be missing; every other one must not. */
    private void fail(Planned plugin, String line, FailureKind kind, List<Failure> fatal) {
        Provider provider = plugin.provider();
        report(new PluginStatus(
                provider.kind(),
                provider.version(),
                State.QUARANTINED,
                provider.file().toString(),
                line));
        if (plugin.component().required().orElse(!provider.observer())) {
            fatal.add(new Failure(kind, line));
        } else {
            log.log(EventLog.Level.ERROR, TARGET, "plugin_quarantined", line, "plugin", provider.kind());
        }
    }

    /** A file that nobody has asked for by name may be broken; a planned kind that it should provide is then unknown. */
    private void refuse(Path file, String reason) {
        String line = "plugin file " + file + " " + reason;
        report(new PluginStatus("", "", State.QUARANTINED, file.toString(), line));
        log.log(EventLog.Level.ERROR, TARGET, "plugin_quarantined", line, "file", file);
    }

    private void report(PluginStatus entry) {
        synchronized (status) {
            status.put(entry.kind() + "\n" + entry.file(), entry);
        }
    }

    private void nameSlow(List<Planned> undecided, long seconds) {
        for (Planned plugin : undecided) {
            log.log(
                    EventLog.Level.WARN,
                    TARGET,
                    "plugin_slow",
                    "plugin " + plugin.component().kind() + " is not active after " + seconds
                            + " seconds, the worker waits for it"
                            + components.waitingFor(
                                    plugin.provider().bundle(),
                                    plugin.component().kind()),
                    "plugin",
                    plugin.component().kind());
        }
    }

    private synchronized void servicesChanged() {
        snapshot = new Snapshot(sinks.serving(), policies.serving());
        changed = true;
        notifyAll();
    }

    /** Configuration Admin and the component runtime announce nothing about a component that registers no service. */
    private synchronized void await() throws InterruptedException {
        if (!changed) {
            wait(LOOK_AGAIN_MILLIS);
        }
        changed = false;
    }
}
