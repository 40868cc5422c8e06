package org.nemorelay.config.internal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.JavaLogging;
import org.nemorelay.telemetry.ProcessControl;
import org.nemorelay.telemetry.ProcessEventLog;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;

/**
 * Turns what the administrator and the command line say into configurations of the running role. What it wrote goes
 * away with it, except at the end of the process: there each component is deactivated by its own bundle's stop.
 */
@Component(service = {})
public final class ConfigurationWriter {
    private static final String TARGET = "nemo_relay.configuration";
    private static final String ANY_BUNDLE = "?";

    private final BundleContext context;
    private final List<Configuration> written = new ArrayList<>();
    private final List<ServiceRegistration<?>> registered = new ArrayList<>();

    @Activate
    public ConfigurationWriter(
            BundleContext context,
            @Reference ConfigurationAdmin admin,
            @Reference LaunchOptions options,
            @Reference EventLog log,
            @Reference ProcessControl control) {
        this.context = context;
        try {
            RoleConfiguration configuration = RoleConfiguration.resolve(options);
            if (log instanceof ProcessEventLog own) {
                own.configure(configuration.logging());
                JavaLogging.install(log);
            }
            log.log(
                    Level.INFO,
                    "nemo_relay.logging",
                    "logging_initialized",
                    "Operational logging initialized",
                    "file_sink_count",
                    configuration.logging().files().size());
            for (String note : configuration.notes()) {
                log.log(Level.WARN, TARGET, "configuration_ignored", note);
            }
            write(admin, configuration);
            log.log(Level.INFO, TARGET, "configuration_resolved", "Configuration resolved", "mode", options.role());
        } catch (RelayException e) {
            control.fail(e);
        } catch (IOException e) {
            control.fail(new RelayException(FailureKind.INTERNAL, "configuration cannot be stored: " + e, e));
        }
    }

    private void write(ConfigurationAdmin admin, RoleConfiguration configuration) throws IOException {
        // The plan goes first: who sees a plugin's configuration finds the plan that it belongs to.
        configuration
                .plugins()
                .ifPresent(plugins -> registered.add(context.registerService(PluginPlan.class, plugins, null)));
        if (configuration.plugins().isPresent()) {
            Plugins plugins = configuration.plugins().get();
            for (PluginPlan.Component component : plugins.components()) {
                Dictionary<String, Object> properties = new Hashtable<>(plugins.configuration(component.kind()));
                properties.put("nemorelay.plugin.kind", component.kind());
                update(admin.getFactoryConfiguration(component.kind(), component.kind(), ANY_BUNDLE), properties);
            }
        }
        for (Map.Entry<String, Map<String, Object>> pid : configuration.pids().entrySet()) {
            update(admin.getConfiguration(pid.getKey(), ANY_BUNDLE), new Hashtable<>(pid.getValue()));
        }
    }

    private void update(Configuration configuration, Dictionary<String, Object> properties) throws IOException {
        written.add(configuration);
        configuration.update(properties);
    }

    @Deactivate
    void deactivate() throws IOException {
        registered.forEach(ServiceRegistration::unregister);
        Bundle framework = context.getBundle(Constants.SYSTEM_BUNDLE_ID);
        if (framework == null || framework.getState() == Bundle.STOPPING) {
            return;
        }
        for (Configuration configuration : written) {
            configuration.delete();
        }
    }
}
