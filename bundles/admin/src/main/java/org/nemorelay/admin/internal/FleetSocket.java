package org.nemorelay.admin.internal;

import java.nio.file.Path;
import org.nemorelay.admin.AdminClient;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.telemetry.EventLog;
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

    private final VerbSocket socket;

    @Activate
    public FleetSocket(Config config, @Reference LaunchOptions options, @Reference EventLog log) {
        socket = new VerbSocket(
                () -> {
                    StateFolder state = StateFolder.of(options.environment());
                    Path folder = AdminClient.fleetFolder(state);
                    state.files().folder(folder);
                    return folder.resolve(config.process() + ".sock");
                },
                "No control socket, so `nemo-relay carriers` does not reach this process",
                log);
    }

    @Reference(service = AdminVerb.class, cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
    void addVerb(AdminVerb verb) {
        socket.add(verb);
    }

    void removeVerb(AdminVerb verb) {
        socket.remove(verb);
    }

    @Deactivate
    void deactivate() {
        socket.close();
    }
}
