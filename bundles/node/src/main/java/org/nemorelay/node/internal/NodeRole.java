package org.nemorelay.node.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.files.FileAreas;
import org.nemorelay.files.FileServer;
import org.nemorelay.fleet.FrontendClient;
import org.nemorelay.fleet.Membership;
import org.nemorelay.fleet.TokenFile;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlServers;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.ModelProber;
import org.nemorelay.seams.dial.NodeEndpoints;
import org.nemorelay.seams.staging.ObjectStore;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.ProcessControl;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.metatype.annotations.Designate;

/** The node role, for as long as the component is active. */
@Component(
        service = {},
        immediate = true,
        configurationPid = NodeConfig.PID,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
@Designate(ocd = NodeConfig.class)
public final class NodeRole {
    private static final String TARGET = "nemo_relay.node";

    private final EventLog log;
    private final ProcessControl process;
    private final ControlServers servers;
    private final NodeEndpoints endpoints;
    private final ObjectStore store;
    private Optional<Parts> parts = Optional.empty();

    /** What exists while the node serves. */
    private record Parts(
            BackendProcesses processes, LoadOperations operations, FileListener listener, Membership membership) {}

    /** What stands under the id that the frontend gave. */
    private record Serving(String nodeId, ControlServer verbs, Registration files) {
        void close() {
            verbs.close();
            files.close();
        }
    }

    private Optional<Serving> serving = Optional.empty();

    @Activate
    public NodeRole(
            NodeConfig config,
            @Reference LaunchOptions launch,
            @Reference EventLog log,
            @Reference ProcessControl process,
            @Reference ControlServers servers,
            @Reference NodeEndpoints endpoints,
            @Reference ObjectStore store,
            @Reference ModelProber prober,
            @Reference BackendClientFactory clients) {
        this.log = log;
        this.process = process;
        this.servers = servers;
        this.endpoints = endpoints;
        this.store = store;
        try {
            String token = TokenFile.read("[distributed] registration_token_file", config.registration__token__file());
            Map<String, BackendCommand> commands = new HashMap<>();
            commands.put("echo", BackendCommand.echo(launch.home()));
            for (String backend : config.backends()) {
                BackendCommand command = BackendCommand.parse(backend);
                commands.put(command.name(), command);
            }
            BackendProcesses processes = new BackendProcesses(
                    commands, config.bind(), config.advertise__address(), token, prober, clients, log);
            FileAreas areas = areas(config.data());
            FileServer files = new FileServer(areas, token, () -> true);
            FileListener listener = FileListener.open(config.bind(), config.port(), files);
            String address = config.advertise__address() + ":" + listener.port();
            LoadOperations operations = new LoadOperations(processes::endUnlessReady, System::nanoTime);
            operations.start();
            AtomicBoolean ready = new AtomicBoolean();
            Membership membership = new Membership(
                    new FrontendClient(config.frontend(), token),
                    Json.object(
                            "name",
                            config.name(),
                            "node_type",
                            "backend",
                            "address",
                            config.advertise__address(),
                            "http_address",
                            address),
                    Duration.ofMillis(config.heartbeat__ms()),
                    log,
                    id -> registered(id, processes, operations, areas, files, ready),
                    process::fail);
            parts = Optional.of(new Parts(processes, operations, listener, membership));
        } catch (RelayException e) {
            process.fail(e);
        }
    }

    private static FileAreas areas(String data) {
        try {
            return FileAreas.below(data.isEmpty() ? Files.createTempDirectory("nemo-relay-node-") : Path.of(data));
        } catch (IOException e) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, "[node] data: the folder cannot be used: " + e.getMessage());
        }
    }

    private void registered(
            String id,
            BackendProcesses processes,
            LoadOperations operations,
            FileAreas areas,
            FileServer files,
            AtomicBoolean ready) {
        try {
            serve(id, processes, operations, areas, files);
            if (ready.compareAndSet(false, true)) {
                log.log(Level.INFO, TARGET, "node_serving", "Node is serving", "node_id", id);
                process.ready();
            }
        } catch (SeamException e) {
            process.fail(new RelayException(FailureKind.CONFIGURATION, "this node cannot serve: " + e.getMessage()));
        }
    }

    private synchronized void serve(
            String id, BackendProcesses processes, LoadOperations operations, FileAreas areas, FileServer files) {
        if (serving.filter(now -> now.nodeId().equals(id)).isPresent()) {
            return;
        }
        serving.ifPresent(Serving::close);
        ControlServer server = servers.controlServer(id);
        try {
            new NodeVerbs(id, processes, operations, new StoreFiles(areas, store), () -> process.exit(0)).serve(server);
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        serving = Optional.of(new Serving(id, server, endpoints.server(id, files::serve)));
    }

    @Deactivate
    void deactivate() {
        parts.ifPresent(all -> all.membership().close());
        synchronized (this) {
            serving.ifPresent(Serving::close);
            serving = Optional.empty();
        }
        parts.ifPresent(all -> {
            all.listener().close();
            all.operations().close();
            all.processes().close();
        });
    }
}
