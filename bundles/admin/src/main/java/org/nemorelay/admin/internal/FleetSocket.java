package org.nemorelay.admin.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.nemorelay.admin.AdminClient;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** The control socket of a process of a fleet. Without it the process still serves: what keeps it away is a warning. */
@Component(
        service = {},
        configurationPid = "org.nemorelay.admin.process",
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class FleetSocket {
    /** What the process is called among those of its user. */
    @ObjectClassDefinition
    public @interface Config {
        String process();
    }

    private final EventLog log;
    private final Map<String, AdminVerb> verbs = new ConcurrentHashMap<>();
    private final Optional<AdminServer> server;

    @Activate
    public FleetSocket(Config config, @Reference LaunchOptions options, @Reference EventLog log) {
        this.log = log;
        this.server = open(options, config.process());
    }

    private Optional<AdminServer> open(LaunchOptions options, String process) {
        try {
            StateFolder state = StateFolder.of(options.environment());
            Path folder = AdminClient.fleetFolder(state);
            state.files().folder(folder);
            return Optional.of(AdminServer.open(folder.resolve(process + ".sock"), Files.getOwner(folder), verbs, log));
        } catch (IOException | RelayException e) {
            log.log(
                    Level.WARN,
                    AdminServer.TARGET,
                    "admin_socket_unavailable",
                    "No control socket, so `nemo-relay carriers` does not reach this process: " + e.getMessage());
            return Optional.empty();
        }
    }

    @Reference(service = AdminVerb.class, cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
    void addVerb(AdminVerb verb) {
        verbs.put(verb.name(), verb);
    }

    void removeVerb(AdminVerb verb) {
        verbs.remove(verb.name(), verb);
    }

    @Deactivate
    void deactivate() {
        try {
            if (server.isPresent()) {
                server.get().close();
            }
        } catch (IOException e) {
            log.log(Level.WARN, AdminServer.TARGET, "admin_socket_not_removed", "Control socket was not removed: " + e);
        }
    }
}
