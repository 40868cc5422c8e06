package org.nemorelay.daemon.internal;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Server;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.broker.Broker;
import org.nemorelay.broker.BrokerSettings;
import org.nemorelay.broker.RouteStatus;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.SettingsInForce;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.LiveHandler;
import org.nemorelay.http.Upstreams;
import org.nemorelay.identity.DaemonSeat;
import org.nemorelay.identity.DrainingWorker;
import org.nemorelay.identity.GenerationFile;
import org.nemorelay.identity.HookTlsIdentity;
import org.nemorelay.identity.ServerTls;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Headers;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.TimeScale;
import org.nemorelay.protocol.Version;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.SettingReport;
import org.nemorelay.protocol.control.SigningKey;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.ProcessControl;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;

/**
 * The daemon: state, broker, control sockets and listener, for as long as the component is active. It is the
 * {@code status} verb of the owner's socket, until its last request has ended.
 */
@Component(
        service = {},
        immediate = true,
        configurationPid = {DaemonConfiguration.PID, UpstreamConfiguration.PID},
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class DaemonServer implements AdminVerb {
    private static final long LAST_REQUESTS_MS = 120_000;
    private static final List<String> PLANNED = List.of("required", "optional", "no");

    /** Enough for the sessions of one machine, or of a few behind one address, that start together. */
    private static final int UPGRADES_PER_PEER = 256;

    /** All users of a machine come from one address, with a socket for each session and worker. */
    private static final int UPGRADES_ON_LOOPBACK = 1_024;

    private static final int SHORT_FINGERPRINT = 12;

    private final EventLog log;
    private final Clock clock;
    private final long startedAt;
    private final String instanceId;
    private final DaemonConfiguration daemon;
    private volatile Optional<Running> running = Optional.empty();
    private volatile OptionalLong endsAt = OptionalLong.empty();
    private Optional<Consumer<UpstreamConfiguration>> surface = Optional.empty();
    private List<ServiceRegistration<AdminVerb>> verbs = List.of();

    /** What exists while the daemon serves. */
    private record Running(
            Broker broker,
            ControlPlane plane,
            DaemonSeat seat,
            StateWriter state,
            HttpListener listener,
            DaemonUrl url,
            Duration lastRequests) {}

    @Activate
    public DaemonServer(
            BundleContext bundle,
            @Reference HttpEngine http,
            @Reference EventLog log,
            @Reference ProcessControl process,
            @Reference LaunchOptions launch,
            @Reference SettingsInForce settings,
            DaemonConfiguration daemon,
            UpstreamConfiguration upstream) {
        this(http, log, process, launch, daemon, upstream, StateFolder::generations);
        // Not the component's service: that would be gone while the last requests run.
        verbs = List.of(
                bundle.registerService(AdminVerb.class, this, null),
                bundle.registerService(
                        AdminVerb.class, new ConfigurationVerb(settings, this::settingsOfWorkers), null));
    }

    /** With a generation file that a test makes. */
    DaemonServer(
            HttpEngine http,
            EventLog log,
            ProcessControl process,
            LaunchOptions launch,
            DaemonConfiguration daemon,
            UpstreamConfiguration upstream,
            BiFunction<StateFolder, Integer, GenerationFile> record) {
        this.log = log;
        this.clock = Clock.SYSTEM;
        this.startedAt = clock.monotonicMs();
        this.daemon = daemon;
        Ids ids = new Ids();
        this.instanceId = ids.uuid7();
        try {
            running = Optional.of(start(http, launch.environment(), upstream, ids, record));
            process.ready();
        } catch (RelayException e) {
            log.log(
                    Level.INFO,
                    TransitionLog.TARGET,
                    "daemon_failed",
                    "NeMo Relay daemon failed",
                    "error_kind",
                    e.kind().word());
            process.fail(e);
        }
    }

    /** New values of {@code [upstream]} hold for the requests that arrive from now on. */
    @Modified
    void modified(UpstreamConfiguration upstream) {
        surface.ifPresent(live -> live.accept(upstream));
    }

    private boolean onlyThisMachine() {
        return daemon.advertise__address().isEmpty()
                && InetAddress.ofLiteral(daemon.bind()).isLoopbackAddress();
    }

    private Running start(
            HttpEngine http,
            Map<String, String> environment,
            UpstreamConfiguration upstream,
            Ids ids,
            BiFunction<StateFolder, Integer, GenerationFile> record) {
        TimeScale scale = TimeScale.of(environment).within(onlyThisMachine());
        StateFolder folder = StateFolder.of(environment).telling(this::wasOpen);
        DaemonSeat seat = folder.seat(daemon.port());
        try {
            return start(http, environment, upstream, ids, scale, folder, seat, record.apply(folder, daemon.port()));
        } catch (RelayException e) {
            seat.close();
            throw e;
        }
    }

    private Running start(
            HttpEngine http,
            Map<String, String> environment,
            UpstreamConfiguration upstream,
            Ids ids,
            TimeScale scale,
            StateFolder folder,
            DaemonSeat seat,
            GenerationFile generations) {
        List<org.nemorelay.identity.Generation> saved = generations.snapshot();
        List<DrainingWorker> draining = generations.draining();
        SigningKey key = folder.daemonIdentity();
        FastSignatures signatures = new FastSignatures();
        CompletableFuture<Boolean> works = CompletableFuture.supplyAsync(() -> signatures.works(key));
        HookTlsIdentity hooks = folder.hookTlsIdentity();
        BrokerSettings routing = BrokerSettings.of(
                        daemon.pass__through(), daemon.require__worker(), daemon.max__tokens__per__identity())
                .with(scale);
        Broker broker = new Broker(routing);
        WorkerProbe probe = (worker, token) -> http.status(
                        worker.origin(),
                        worker.protocol(),
                        ControlPaths.WORKER_READY,
                        new HttpField(Headers.WORKER_TOKEN, token),
                        WorkerProbe.TIMEOUT_MS)
                .handle(WorkerProbe::problem);
        StateWriter state = new StateWriter(generations);
        Handshake handshake = new Handshake(key, signatures, instanceId, ids, clock);
        ProofDesk proofs = new ProofDesk(ids);
        ControlPlane plane = new ControlPlane(broker, handshake, proofs, ids, clock, state, probe, log);
        plane.recover(saved, draining, routing.drainMs());
        try {
            int upgrades = daemon.upgrades__per__address();
            Admission admission = new Admission(
                    upgrades > 0 ? upgrades : UPGRADES_PER_PEER, upgrades > 0 ? upgrades : UPGRADES_ON_LOOPBACK);
            TrustedProxies proxies = TrustedProxies.parse(daemon.trusted__proxies());
            Function<Server, Handler> handlers = server -> {
                RequestLog requests = new RequestLog(log, clock);
                ControlUpgrade upgrade = new ControlUpgrade(server, admission, proxies, clock, requests);
                HookTunnel tunnel = new HookTunnel(server, hooks, log);
                StatusPages pages = new StatusPages(instanceId, Version.text(), daemon.pass__through());
                Function<UpstreamConfiguration, PublicSurface> made = settings -> new PublicSurface(
                        broker,
                        plane,
                        upgrade,
                        proofs,
                        tunnel,
                        http.forwarder(),
                        upstreams(settings, environment),
                        pages,
                        requests,
                        daemon.require__worker(),
                        Math.multiplyExact(settings.response__timeout__secs(), 1_000L));
                LiveHandler live = new LiveHandler(made.apply(upstream));
                surface = Optional.of(settings -> live.use(made.apply(settings)));
                return live;
            };
            if (!works.join()) {
                throw new RelayException(FailureKind.INTERNAL, "a signature of this daemon does not verify");
            }
            boolean secure = !daemon.tls__cert().isEmpty();
            if (secure && ServerTls.openToAll(Path.of(daemon.tls__key()))) {
                wasOpen("daemon TLS private key " + daemon.tls__key()
                        + " can be read by every account of this machine; close it (chmod o-r), and replace it if one of them may"
                        + " have read it");
            }
            HttpListener listener = secure
                    ? http.listenSecurely(
                            daemon.bind(),
                            daemon.port(),
                            ServerTls.read(Path.of(daemon.tls__cert()), Path.of(daemon.tls__key())),
                            handlers)
                    : http.listen(daemon.bind(), daemon.port(), handlers);
            DaemonUrl url = DaemonUrl.parse(
                    daemon.advertise__address().isEmpty()
                            ? (secure ? "https://" : "http://") + daemon.bind() + ":" + listener.port()
                            : daemon.advertise__address());
            handshake.serve(url);
            log.log(
                    Level.INFO,
                    TransitionLog.TARGET,
                    "daemon_listening",
                    "NeMo Relay daemon is listening",
                    "address",
                    daemon.bind() + ":" + listener.port(),
                    "public_origin",
                    url.origin(),
                    "pass_through",
                    daemon.pass__through());
            if (!scale.documented()) {
                log.log(
                        Level.WARN,
                        TransitionLog.TARGET,
                        "test_time_scale",
                        "Long timers are cut short for a test: unset " + TimeScale.VARIABLE,
                        "divisor",
                        scale.divisor());
            }
            if (daemon.pass__through()) {
                log.log(
                        Level.INFO,
                        TransitionLog.TARGET,
                        "daemon_pass_through_enabled",
                        "Worker launches are disabled; every request passes through",
                        "route_mode",
                        "pass_through");
            }
            return new Running(
                    broker, plane, seat, state, listener, url, Duration.ofMillis(scale.ms(LAST_REQUESTS_MS)));
        } catch (RelayException e) {
            plane.close();
            state.close();
            throw e;
        }
    }

    private void wasOpen(String notice) {
        log.log(Level.ERROR, TransitionLog.TARGET, "private_file_open", notice, "error_kind", FailureKind.STATE.word());
    }

    private static Upstreams upstreams(UpstreamConfiguration upstream, Map<String, String> environment) {
        return new Upstreams(
                new Upstreams.Settings(
                        upstream.openai__base__url(),
                        upstream.openai__auth__header(),
                        upstream.anthropic__base__url(),
                        upstream.anthropic__auth__header(),
                        upstream.chatgpt__codex__base__url()),
                environment);
    }

    /** Where the daemon listens; nothing when it could not start. */
    Optional<DaemonUrl> url() {
        return running.map(Running::url);
    }

    /** Accepts nothing new, lets streams end for two minutes at most, then closes. */
    @Deactivate
    void stop() {
        running.ifPresent(serving -> {
            endsAt =
                    OptionalLong.of(clock.monotonicMs() + serving.lastRequests().toMillis());
            serving.plane().close();
            serving.state().close();
            // A successor need not wait for the last streams.
            serving.seat().close();
            serving.listener().close(serving.lastRequests());
            log.log(Level.INFO, TransitionLog.TARGET, "daemon_stopped", "NeMo Relay daemon stopped");
        });
        running = Optional.empty();
        verbs.forEach(ServiceRegistration::unregister);
    }

    @Override
    public String name() {
        return "status";
    }

    @Override
    public Map<String, Object> run(Map<String, Object> arguments) {
        Running serving =
                running.orElseThrow(() -> new RelayException(FailureKind.UNAVAILABLE, "the daemon does not serve"));
        if (endsAt.isPresent()) {
            return Json.object(
                    "stopping",
                    Json.object(
                            "pid",
                            ProcessHandle.current().pid(),
                            "requests",
                            serving.plane().forwarding().requests(),
                            "seconds_left",
                            secondsUntil(endsAt.getAsLong())));
        }
        List<Object> sessions = new ArrayList<>();
        serving.broker()
                .sessions()
                .forEach(session -> sessions.add(Json.object(
                        "session_id",
                        session.sessionId(),
                        "fingerprint",
                        brief(session.fingerprint().hex()),
                        "connected",
                        session.connected())));
        List<Object> routes = new ArrayList<>();
        List<Object> workers = new ArrayList<>();
        for (RouteStatus route : serving.broker().routes()) {
            Map<String, Object> shown = Json.object(
                    "fingerprint",
                    brief(route.fingerprint().hex()),
                    "state",
                    route.word(),
                    "tokens",
                    route.tokens(),
                    "references",
                    route.references(),
                    "connected",
                    route.connected());
            route.until().ifPresent(until -> shown.put("seconds_left", secondsUntil(until)));
            routes.add(shown);
            route.worker()
                    .ifPresent(worker -> workers.add(Json.object(
                            "worker_id",
                            worker.workerId(),
                            "fingerprint",
                            brief(route.fingerprint().hex()),
                            "state",
                            route.word(),
                            "in_flight",
                            worker.inFlight(),
                            "control_available",
                            worker.controlAvailable())));
        }
        Map<String, Object> status = new LinkedHashMap<>();
        status.put(
                "daemon",
                Json.object(
                        "version",
                        Version.text(),
                        "instance_id",
                        instanceId,
                        "pid",
                        ProcessHandle.current().pid(),
                        "address",
                        serving.url().argument(),
                        "mode",
                        daemon.pass__through()
                                ? "pass_through"
                                : daemon.require__worker() ? "require_worker" : "managed",
                        "uptime_ms",
                        clock.monotonicMs() - startedAt));
        status.put("sessions", sessions);
        status.put("routes", routes);
        status.put("workers", workers);
        status.put("plugins", plugins(serving.plane()));
        return status;
    }

    private Map<String, List<SettingReport>> settingsOfWorkers() {
        return running.map(serving -> serving.plane().settings()).orElse(Map.of());
    }

    private static List<Object> plugins(ControlPlane plane) {
        List<Object> plugins = new ArrayList<>();
        plane.plugins().forEach((worker, reports) -> {
            for (PluginReport report : reports) {
                Map<String, Object> plugin = Json.object(
                        "worker_id",
                        worker,
                        "kind",
                        report.kind(),
                        "version",
                        report.version(),
                        "state",
                        report.state(),
                        "file",
                        report.file(),
                        "reason",
                        report.reason());
                // A worker of another version does not say it: neither is true then.
                if (report.kind().isEmpty() || PLANNED.contains(report.planned())) {
                    plugin.put("planned", List.of("required", "optional").contains(report.planned()));
                    plugin.put("required", report.planned().equals("required"));
                }
                plugins.add(plugin);
            }
        });
        return plugins;
    }

    private long secondsUntil(long monotonicMs) {
        return Math.ceilDiv(Math.max(0, monotonicMs - clock.monotonicMs()), 1_000);
    }

    private static String brief(String fingerprint) {
        return fingerprint.substring(0, SHORT_FINGERPRINT);
    }
}
