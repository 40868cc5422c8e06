package org.nemorelay.admin.internal;

import java.nio.file.Files;
import java.nio.file.Path;
import org.nemorelay.admin.AdminClient;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.Constants;
import org.osgi.framework.SynchronousBundleListener;
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

    private final VerbSocket socket;
    private final BundleContext bundle;
    private final SynchronousBundleListener stopping = this::bundleChanged;

    @Activate
    public AdminSocket(BundleContext bundle, Config config, @Reference LaunchOptions options, @Reference EventLog log) {
        this.bundle = bundle;
        socket = new VerbSocket(
                () -> {
                    StateFolder state = StateFolder.of(options.environment());
                    state.files().folder(state.daemon());
                    for (Path left : AdminClient.stopping(state, config.port())) {
                        if (!AdminServer.answers(left)) {
                            Files.deleteIfExists(left);
                        }
                    }
                    return AdminClient.socket(state, config.port());
                },
                "No control socket, so `nemo-relay status` sees the public paths only",
                log);
        bundle.addBundleListener(stopping);
    }

    /** The whole process stops, before any of its parts does; requests may keep it for minutes. */
    private void bundleChanged(BundleEvent event) {
        if (event.getType() == BundleEvent.STOPPING && event.getBundle().getBundleId() == Constants.SYSTEM_BUNDLE_ID) {
            socket.moveAside();
        }
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
        bundle.removeBundleListener(stopping);
        socket.close();
    }
}
