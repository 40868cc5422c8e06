package org.nemorelay.worker.internal;

import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.nemorelay.config.EffectiveSettings;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.SettingsInForce;
import org.nemorelay.control.ControlClient;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.LiveHandler;
import org.nemorelay.http.Upstreams;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.identity.ServerTls;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pluginhost.PluginHost;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.TimeScale;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;
import org.nemorelay.worker.internal.hook.HookPayload;
import org.nemorelay.worker.internal.observe.TrafficEvents;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferencePolicy;

/** The worker role of a process: reads the grant and runs a {@link Worker} until that ends or the role is stopped. */
@Component(
        service = {},
        configurationPid = {WorkerConfiguration.PID, UpstreamConfiguration.PID, GatewayConfiguration.PID},
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class WorkerRole {
    /** Set by the start script: the process it was called by. */
    private static final String STARTER = "nemorelay.starter";

    private static final long NO_LIFE_MS = 1_000;
    private static final long LONGEST_DRAIN_MS = 120_000;

    private final HttpEngine engine;
    private final PluginHost plugins;
    private final EventLog log;
    private final ProcessControl process;
    private final LaunchOptions options;
    private final WorkerConfiguration worker;
    private final SettingsInForce settings;
    private volatile UpstreamConfiguration upstream;
    private volatile GatewayConfiguration gateway;
    private volatile Runnable configured = () -> {};
    private final Ids ids = new Ids();
    private final Thread thread;
    private volatile Optional<Worker> life = Optional.empty();
    private volatile boolean stopped;

    @Activate
    public WorkerRole(
            @Reference HttpEngine engine,
            @Reference PluginHost plugins,
            @Reference EventLog log,
            @Reference ProcessControl process,
            @Reference LaunchOptions options,
            @Reference SettingsInForce settings,
            WorkerConfiguration worker,
            UpstreamConfiguration upstream,
            GatewayConfiguration gateway) {
        this.engine = engine;
        this.plugins = plugins;
        this.log = log;
        this.process = process;
        this.options = options;
        this.settings = settings;
        this.worker = worker;
        this.upstream = upstream;
        this.gateway = gateway;
        thread = Thread.ofPlatform().name("worker").daemon().unstarted(() -> run(System.in));
        thread.start();
    }

    /** New values hold for the requests that arrive from now on. */
    @Modified
    void modified(UpstreamConfiguration upstream, GatewayConfiguration gateway) {
        this.upstream = upstream;
        this.gateway = gateway;
        configured.run();
    }

    @Reference(policy = ReferencePolicy.DYNAMIC, updated = "updatedSettings")
    void setSettings(SettingsInForce settings) {}

    /** The daemon's owner may ask what is in force here. */
    void updatedSettings(SettingsInForce settings) {
        life.ifPresent(Worker::changed);
    }

    void unsetSettings(SettingsInForce settings) {}

    /** Finishes what is in flight, two minutes at most. */
    @Deactivate
    void stop() throws InterruptedException {
        stopped = true;
        if (life.isPresent()) {
            life.get().stop();
            thread.join();
        } else {
            // It may still wait for the grant, and a read of standard input cannot be interrupted.
            thread.join(NO_LIFE_MS);
        }
    }

    private void run(InputStream input) {
        Worker alive;
        try {
            alive = prepare(input);
        } catch (RelayException e) {
            fail(e);
            return;
        } catch (RuntimeException | Error e) {
            fail(Worker.defect(e));
            return;
        }
        life = Optional.of(alive);
        if (!stopped) {
            alive.run();
        }
    }

    private void fail(RelayException failure) {
        if (!stopped) {
            process.fail(failure);
        }
    }

    private Worker prepare(InputStream input) {
        LaunchGrant grant =
                GrantReader.read(input, worker.bind(), worker.port(), optional(worker.advertise__address()));
        DaemonUrl daemon = DaemonUrl.parse(worker.daemon__address());
        TimeScale scale = TimeScale.of(options.environment()).within(daemon.loopback());
        if (!scale.documented()) {
            log.log(
                    EventLog.Level.WARN,
                    Worker.TARGET,
                    "test_time_scale",
                    "Long timers are cut short for a test: unset " + TimeScale.VARIABLE,
                    "divisor",
                    scale.divisor());
        }
        StateFolder state = StateFolder.of(options.environment())
                .telling(notice -> log.log(
                        EventLog.Level.ERROR,
                        Worker.TARGET,
                        "private_file_open",
                        notice,
                        "error_kind",
                        FailureKind.STATE.word()));
        String workerId = ids.uuid7();
        ControlClient client = new ControlClient(
                daemon,
                Role.WORKER,
                workerId,
                state.machineIdentity(),
                state.pins(),
                ids,
                new ClientTls(options.environment()));
        // A daemon on another machine reaches this worker over TLS, which nobody but this worker vouches for.
        Optional<ServerTls.OfWorker> tls = grant.advertiseAddress().map(ServerTls::ofWorker);
        Admission admission = new Admission();
        PluginObservation observation = new PluginObservation();
        UpstreamFailureLog failures = new UpstreamFailureLog(log, workerId, System::nanoTime);
        Supplier<DataPlane> dataPlane = () -> new DataPlane(
                admission,
                engine.forwarder(),
                // The user's environment names no provider and no key: the administrator's configuration does.
                new Upstreams(settings(), Map.of()),
                plugins::snapshot,
                observation,
                failures,
                gateway.max__hook__payload__bytes(),
                gateway.max__passthrough__body__bytes(),
                TimeUnit.SECONDS.toMillis(upstream.response__timeout__secs()));
        LiveHandler live = new LiveHandler(dataPlane.get());
        configured = () -> live.use(dataPlane.get());
        return new Worker(
                grant,
                new ControlDaemon(client, tls.map(ServerTls.OfWorker::rootCertificate)),
                admission,
                plugins,
                new Worker.Surroundings() {
                    @Override
                    public HttpListener listen() {
                        HttpListener listener = tls.map(identity -> engine.listenSecurely(
                                        worker.bind(),
                                        worker.port(),
                                        identity.listener(),
                                        server -> new PluginUse(plugins, live)))
                                .orElseGet(() -> engine.listen(
                                        worker.bind(), worker.port(), server -> new PluginUse(plugins, live)));
                        return new HeldPort(listener, worker.bind());
                    }

                    @Override
                    public String endpoint(int port) {
                        return grant.advertiseAddress()
                                .map(host -> "https://" + host + ":" + port)
                                .orElse("http://127.0.0.1:" + port);
                    }

                    @Override
                    public List<EffectiveSettings.Setting> settings() {
                        return settings.settings();
                    }

                    @Override
                    public void observe() {
                        observation.start();
                    }

                    @Override
                    public void closeObservation(long millis) throws InterruptedException {
                        observation.close(millis);
                    }

                    @Override
                    public boolean daemonHasThisClock() {
                        return daemon.loopback();
                    }

                    @Override
                    public boolean starterGone() {
                        return WorkerRole.starterGone();
                    }
                },
                log,
                process,
                scale.ms(LONGEST_DRAIN_MS));
    }

    /** Whoever started this process is its parent as long as it lives. */
    private static boolean starterGone() {
        long starter = Long.getLong(STARTER, 0);
        return starter != 0
                && ProcessHandle.current()
                        .parent()
                        .filter(parent -> parent.pid() == starter)
                        .isEmpty();
    }

    private Upstreams.Settings settings() {
        return new Upstreams.Settings(
                upstream.openai__base__url(),
                upstream.openai__auth__header(),
                upstream.anthropic__base__url(),
                upstream.anthropic__auth__header(),
                upstream.chatgpt__codex__base__url());
    }

    private static Optional<String> optional(String value) {
        return value.isEmpty() ? Optional.empty() : Optional.of(value);
    }

    /** Observation begins when the plugins run, after the data plane was made. */
    private final class PluginObservation implements Observation {
        private volatile Optional<TrafficEvents> events = Optional.empty();

        void start() {
            events = Optional.of(new TrafficEvents(
                    plugins::snapshot, plugins::configuration, ids::uuid7, log, worker.observation__capture__bytes()));
        }

        void close(long millis) throws InterruptedException {
            if (events.isPresent()) {
                events.get().close("daemon_worker_shutdown", millis);
            }
        }

        @Override
        public CompletableFuture<Void> hook(HookPayload hook, int bytes, Ruling ruling) {
            Optional<TrafficEvents> traffic = events;
            return traffic.isPresent()
                    ? traffic.get().hook(hook, bytes, ruling)
                    : CompletableFuture.completedFuture(null);
        }

        @Override
        public ExchangeListener exchange(String path, Supplier<HttpFields> headers, Optional<byte[]> body) {
            Optional<TrafficEvents> traffic = events;
            return traffic.isPresent() && traffic.get().observes(path)
                    ? traffic.get().exchange(path, headers.get(), body)
                    : ExchangeListener.NONE;
        }

        @Override
        public void refused(String path, HttpFields headers, Optional<byte[]> body, List<Clearance.Check> checks) {
            events.ifPresent(traffic -> traffic.refused(path, headers, body, checks));
        }
    }
}
