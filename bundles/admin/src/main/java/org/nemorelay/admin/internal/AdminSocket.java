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

/** The control socket of the daemon of this process. Without it a daemon still serves: what keeps it away is a warning. */
@Component(
        service = {},
        configurationPid = "org.nemorelay.daemon",
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class AdminSocket {
    /** What the socket needs to know of the daemon's configuration. */
    @ObjectClassDefinition
    public @interface Config {
        int port();
    }

    private final EventLog log;
    private final Map<String, AdminVerb> verbs = new ConcurrentHashMap<>();
    private final Optional<AdminServer> server;

    @Activate
    public AdminSocket(Config config, @Reference LaunchOptions options, @Reference EventLog log) {
        this.log = log;
        this.server = open(options, config.port());
    }

    private Optional<AdminServer> open(LaunchOptions options, int port) {
        try {
            StateFolder folder = StateFolder.of(options.environment());
            folder.files().folder(folder.daemon());
            Path socket = AdminClient.socket(folder, port);
            // The folder is this user's own, so its owner is who this process runs as.
            return Optional.of(AdminServer.open(socket, Files.getOwner(folder.daemon()), verbs, log));
        } catch (IOException | RelayException e) {
            log.log(
                    Level.WARN,
                    AdminServer.TARGET,
                    "admin_socket_unavailable",
                    "No control socket, so `nemo-relay status` sees the public paths only: " + e.getMessage());
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
