package org.nemorelay.pluginhost.internal;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.pluginhost.PluginCheck;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.BundleContext;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.runtime.ServiceComponentRuntime;

/** {@link PluginCheck} for the process that asks once and ends. */
@Component(service = PluginCheck.class)
public final class PluginCheckComponent implements PluginCheck {
    private final PluginPlan plan;
    private final Path folder;
    private final Inspection inspection;

    @Activate
    public PluginCheckComponent(
            BundleContext context,
            @Reference LaunchOptions options,
            @Reference PluginPlan plan,
            @Reference ServiceComponentRuntime runtime,
            @Reference ConfigurationAdmin configurations) {
        this.plan = plan;
        this.folder = folder(options);
        EventLog log = new Silence();
        Deployment deployment = new Deployment(
                context,
                PluginHostComponent.folders(options),
                configurations,
                new ComponentStates(runtime),
                new Departures(Deployment.Limits.DEFAULT.stopMillis(), log, log, () -> {}),
                new StuckCalls(() -> {}),
                bundle -> false,
                (bundle, kind) -> "",
                kind -> Optional.empty(),
                bundles -> CompletableFuture.completedFuture(null),
                () -> {},
                Deployment.Limits.DEFAULT,
                log);
        deployment.plan(plan);
        this.inspection = new Inspection(deployment);
    }

    private static Path folder(LaunchOptions options) {
        try {
            return options.systemFolder();
        } catch (RelayException e) {
            return options.home().resolve("etc");
        }
    }

    @Override
    public List<Finding> check() {
        return inspection.all(plan, folder);
    }

    @Override
    public List<Finding> check(List<Path> jars) {
        return inspection.jars(jars, plan);
    }

    @Override
    public List<Value> configuration(String kind) {
        return RecordedPlan.values(plan, kind).entrySet().stream()
                .map(entry -> new Value(
                        entry.getKey(),
                        entry.getValue(),
                        plan.position(kind, entry.getKey())
                                .map(Object::toString)
                                .orElse("")))
                .toList();
    }

    @Override
    public List<String> problems() {
        return plan.problems();
    }

    @Override
    public List<String> planned() {
        return plan.components().stream().map(PluginPlan.Component::kind).toList();
    }

    /** What is found is the answer, not an event. */
    private static final class Silence implements EventLog {
        @Override
        public boolean enabled(Level level) {
            return false;
        }

        @Override
        public void log(Level level, String target, String event, String message, Object... fields) {}

        @Override
        public void flush() {}
    }
}
