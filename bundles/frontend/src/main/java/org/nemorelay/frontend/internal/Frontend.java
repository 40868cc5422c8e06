package org.nemorelay.frontend.internal;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.nemorelay.fleet.TokenFile;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.NodeAddresses;
import org.nemorelay.seams.dial.WorkerDialers;
import org.nemorelay.seams.staging.FileStager;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.ProcessControl;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.metatype.annotations.Designate;

/** The frontend role, for as long as the component is active. Its service tells where the nodes' servers are. */
@Component(
        service = NodeAddresses.class,
        immediate = true,
        configurationPid = FrontendConfig.PID,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
@Designate(ocd = FrontendConfig.class)
public final class Frontend implements NodeAddresses {
    private static final String TARGET = "nemo_relay.frontend";
    private static final Duration LAST_REQUESTS = Duration.ofSeconds(30);

    private final NodeRegistry registry = new NodeRegistry();
    private final Router router;
    private final Jobs jobs;
    private Optional<HttpListener> listener = Optional.empty();

    @Activate
    public Frontend(
            FrontendConfig config,
            @Reference HttpEngine http,
            @Reference EventLog log,
            @Reference ProcessControl process,
            @Reference NodeCommandSender commands,
            @Reference BackendClientFactory clients,
            @Reference WorkerDialers dialers,
            @Reference FileStager stager,
            @Reference WorkQueue queue,
            @Reference Broadcaster events) {
        router = new Router(registry, commands, clients, stager, log);
        jobs = new Jobs(queue, events);
        try {
            List<ModelEntry> models =
                    Arrays.stream(config.models()).map(ModelEntry::parse).toList();
            FrontendSurface surface = new FrontendSurface(
                    models,
                    registry,
                    router,
                    jobs,
                    queue,
                    dialers,
                    TokenFile.read("[distributed] registration_token_file", config.registration__token__file()),
                    TokenFile.read("[frontend] api_key_file", config.api__key__file()));
            listener = Optional.of(http.listen(config.bind(), config.port(), server -> surface));
            log.log(
                    Level.INFO,
                    TARGET,
                    "frontend_listening",
                    "Frontend is listening",
                    "address",
                    "http://" + config.bind() + ":" + listener.get().port(),
                    "models",
                    models.size());
            process.ready();
        } catch (RelayException e) {
            process.fail(e);
        }
    }

    @Override
    public Optional<String> serverAddress(String nodeId) {
        return registry.serverAddress(nodeId);
    }

    @Deactivate
    void deactivate() {
        listener.ifPresent(open -> open.close(LAST_REQUESTS));
        jobs.close();
        router.close();
    }
}
