package org.nemorelay.config.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Hashtable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.nemorelay.config.EffectiveSettings;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.config.SettingsInForce;
import org.nemorelay.config.internal.Schema.Setting;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
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
 * Turns what the administrator and the command line say into configurations of the running role, and follows the files
 * while it runs: what is read without an error takes effect, an error changes nothing. What it wrote goes away with it,
 * except at the end of the process: there each component is deactivated by its own bundle's stop.
 */
@Component(service = {})
public final class ConfigurationWriter {
    private static final String TARGET = "nemo_relay.configuration";
    private static final String ANY_BUNDLE = "?";

    /** Their values belong to listeners, the broker and memberships, which live as long as the process. */
    private static final Set<String> AT_START = Set.of(
            "org.nemorelay.daemon",
            "org.nemorelay.frontend",
            "org.nemorelay.node",
            "org.nemorelay.agents",
            "org.nemorelay.admin.process");

    /** Stands between factory and instance in the name of one of several configurations. */
    static final String INSTANCE = "~";

    private static final long LOOK_MILLIS = 1_000;

    /** How long a file that has changed must have stayed as it is: editors write in pieces. */
    private static final long SETTLED_MILLIS = 300;

    private final BundleContext context;
    private final ConfigurationAdmin admin;
    private final LaunchOptions options;
    private final EventLog log;
    private final Map<String, Configuration> written = new LinkedHashMap<>();
    private final Thread thread;
    private Optional<ServiceRegistration<PluginPlan>> plan = Optional.empty();
    private Map<Path, Stamp> stamps = Map.of();
    private volatile RoleConfiguration inForce;
    private Optional<ServiceRegistration<SettingsInForce>> settings = Optional.empty();

    /** What the values were that hold for as long as the process. */
    private List<EffectiveSettings.Setting> first = List.of();

    /** The same as they were read. */
    private Map<String, Setting> atStart = Map.of();

    /** Whether plugins.toml has changed since the plan that is registered was read; of the following thread. */
    private boolean anotherPlan;

    /** By what a file is known to have changed. */
    private record Stamp(long size, Object modified, String inode) {
        static final Stamp ABSENT = new Stamp(-1, "", "");
    }

    @Activate
    public ConfigurationWriter(
            BundleContext context,
            @Reference ConfigurationAdmin admin,
            @Reference LaunchOptions options,
            @Reference EventLog log,
            @Reference ProcessControl control) {
        this.context = context;
        this.admin = admin;
        this.options = options;
        this.log = log;
        this.thread = Thread.ofPlatform().name("configuration").daemon().unstarted(this::follow);
        try {
            RoleConfiguration configuration = RoleConfiguration.resolve(options);
            stamps = stamps(configuration.files());
            inForce = configuration;
            first = RoleSettings.of(options, configuration);
            atStart = configuration.settings();
            settings = Optional.of(context.registerService(SettingsInForce.class, this::settings, null));
            configureLog(configuration);
            log.log(
                    Level.INFO,
                    "nemo_relay.logging",
                    "logging_initialized",
                    "Operational logging initialized",
                    "file_sink_count",
                    configuration.logging().files().size());
            note(configuration.notes());
            configuration.plugins().ifPresent(this::register);
            for (Map.Entry<String, Map<String, Object>> pid :
                    configuration.pids().entrySet()) {
                update(pid.getKey(), pid.getValue());
            }
            Optional<Plugins> wrong = configuration
                    .plugins()
                    .filter(plugins -> !plugins.problems().isEmpty());
            if (wrong.isEmpty()) {
                log.log(Level.INFO, TARGET, "configuration_resolved", "Configuration resolved", "mode", options.role());
            } else if (!options.role().equals(RoleConfiguration.LOOKING)) {
                log.log(
                        Level.ERROR,
                        TARGET,
                        "configuration_rejected",
                        wrong.get().problemLine(),
                        "mode",
                        options.role());
            }
            if (!configuration.files().isEmpty()) {
                thread.start();
            }
        } catch (RelayException e) {
            control.fail(e);
        } catch (IOException e) {
            control.fail(
                    new RelayException(FailureKind.INTERNAL, "configuration cannot be stored: " + Reasons.of(e), e));
        }
    }

    private void configureLog(RoleConfiguration configuration) {
        if (log instanceof ProcessEventLog own) {
            own.configure(configuration.logging());
            JavaLogging.install(log);
        }
    }

    private void note(List<RoleConfiguration.Note> notes) {
        for (RoleConfiguration.Note note : notes) {
            log.log(note.level(), TARGET, "configuration_ignored", note.text());
        }
    }

    /** Who is told of another plan has the old one until then. One with mistakes is for telling them. */
    private void register(Plugins plugins) {
        ServiceRegistration<PluginPlan> next = context.registerService(
                PluginPlan.class, plugins, plugins.problems().isEmpty() ? null : rejected(plugins.problemLine()));
        plan.ifPresent(ServiceRegistration::unregister);
        plan = Optional.of(next);
    }

    private void update(String pid, Map<String, Object> values) throws IOException {
        Configuration configuration = written.get(pid);
        if (configuration == null) {
            int instance = pid.indexOf(INSTANCE);
            configuration = instance < 0
                    ? admin.getConfiguration(pid, ANY_BUNDLE)
                    : admin.getFactoryConfiguration(
                            pid.substring(0, instance), pid.substring(instance + 1), ANY_BUNDLE);
            written.put(pid, configuration);
        }
        configuration.update(new Hashtable<>(values));
    }

    // ---- changes while the role runs

    private void follow() {
        try {
            while (true) {
                Thread.sleep(LOOK_MILLIS);
                Map<Path, Stamp> now = stamps(inForce.files());
                if (!now.equals(stamps)) {
                    now = settled(now);
                    anotherPlan |= changed(now, Plugins.FILE);
                    stamps = now;
                    reload();
                }
            }
        } catch (InterruptedException e) {
            // The role ends.
        }
    }

    private List<EffectiveSettings.Setting> settings() {
        List<EffectiveSettings.Setting> now = new ArrayList<>(RoleSettings.of(options, inForce));
        now.replaceAll(setting -> first.stream()
                .filter(one -> one.name().equals(setting.name()) && holdsForever(one.name()))
                .findFirst()
                .orElse(setting));
        return now;
    }

    private static boolean holdsForever(String name) {
        return name.startsWith("daemon.") && !name.startsWith("daemon.logging.");
    }

    private Map<Path, Stamp> settled(Map<Path, Stamp> first) throws InterruptedException {
        Map<Path, Stamp> last = first;
        while (true) {
            Thread.sleep(SETTLED_MILLIS);
            Map<Path, Stamp> now = stamps(inForce.files());
            if (now.equals(last)) {
                return now;
            }
            last = now;
        }
    }

    private boolean changed(Map<Path, Stamp> now, String name) {
        return now.entrySet().stream()
                .anyMatch(entry ->
                        entry.getKey().endsWith(name) && !entry.getValue().equals(stamps.get(entry.getKey())));
    }

    private void reload() {
        try {
            RoleConfiguration next = RoleConfiguration.resolve(options);
            next.plugins().ifPresent(Plugins::sound);
            refuseSilence(next);
            if (!next.logging().equals(inForce.logging())) {
                configureLog(next);
            }
            note(next.notes().stream()
                    .filter(note -> !inForce.notes().contains(note))
                    .toList());
            for (Map.Entry<String, Map<String, Object>> pid : next.pids().entrySet()) {
                if (!pid.getValue().equals(inForce.pids().get(pid.getKey())) && !AT_START.contains(pid.getKey())) {
                    update(pid.getKey(), pid.getValue());
                }
            }
            removeInstances(next.pids().keySet());
            tell(next);
            inForce = next;
            settings.ifPresent(registered -> registered.setProperties(null));
            if (anotherPlan) {
                next.plugins().ifPresent(this::register);
                anotherPlan = false;
            } else {
                plan.ifPresent(registered -> registered.setProperties(null));
            }
        } catch (RelayException e) {
            String line = e.getMessage() + "; what was in force stays in force until this is corrected";
            log.log(Level.ERROR, TARGET, "configuration_rejected", line, "mode", options.role());
            plan.ifPresent(registered -> registered.setProperties(new Hashtable<>(
                    Map.of(PluginPlan.REJECTED, line, PluginPlan.REJECTED_FILE, fileOf(e.getMessage())))));
        } catch (IOException e) {
            log.log(Level.ERROR, TARGET, "configuration_rejected", "configuration cannot be stored: " + Reasons.of(e));
        }
    }

    /**
     * A file that has gone, is empty, or ends before it says anything is more likely being written or lost than meant: by
     * it alone no policy and no provider of the administrator's goes out of force.
     */
    private void refuseSilence(RoleConfiguration next) {
        for (Path file : next.files()) {
            boolean plugins = file.endsWith(Plugins.FILE);
            boolean counts = !plugins
                    || inForce.plugins()
                            .filter(before -> !before.components().isEmpty())
                            .isPresent();
            if (counts && next.silent().contains(file) && !inForce.silent().contains(file)) {
                throw Failures.of(file
                        + (stamps.get(file).equals(Stamp.ABSENT) ? " is gone" : " says nothing")
                        + (plugins
                                ? ", not even that there are no components (components = [])"
                                : "; for the defaults leave a file with an empty table, such as [upstream]"));
            }
        }
    }

    private Hashtable<String, Object> rejected(String line) {
        return new Hashtable<>(Map.of(PluginPlan.REJECTED, line, PluginPlan.REJECTED_FILE, fileOf(line)));
    }

    private String fileOf(String line) {
        return inForce.files().stream()
                .map(Path::toString)
                .filter(line::startsWith)
                .findFirst()
                .orElse("");
    }

    /** After the new ones are there: what goes may be what is still used. */
    private void removeInstances(Set<String> wanted) throws IOException {
        for (String pid : List.copyOf(written.keySet())) {
            if (pid.contains(INSTANCE) && !wanted.contains(pid)) {
                written.remove(pid).delete();
            }
        }
    }

    /** Names, not values: these may be credentials. */
    private void tell(RoleConfiguration next) {
        TreeSet<String> names = new TreeSet<>(next.settings().keySet());
        names.addAll(inForce.settings().keySet());
        List<String> changed = new ArrayList<>();
        for (String name : names) {
            Optional<Setting> before = Optional.ofNullable(inForce.settings().get(name));
            Optional<Setting> after = Optional.ofNullable(next.settings().get(name));
            if (Objects.equals(before.map(Setting::value), after.map(Setting::value))) {
                continue;
            }
            boolean daemon = options.role().equals("daemon");
            if (name.startsWith(daemon ? "logging." : "daemon.")) {
                continue;
            }
            if (holdsForever(name)) {
                Optional<Object> running =
                        Optional.ofNullable(atStart.get(name)).map(Setting::value);
                if (running.equals(after.map(Setting::value))) {
                    continue;
                }
                log.log(
                        Level.ERROR,
                        TARGET,
                        "configuration_needs_restart",
                        after.or(() -> before).map(Setting::origin).orElse("") + ": " + name
                                + " takes effect when the daemon is started again",
                        "key",
                        name);
            } else {
                changed.add(name);
            }
        }
        if (!changed.isEmpty()) {
            log.log(
                    Level.INFO,
                    TARGET,
                    "configuration_changed",
                    "In force for new requests: " + String.join(", ", changed),
                    "mode",
                    options.role());
        }
    }

    private static Map<Path, Stamp> stamps(List<Path> files) {
        Map<Path, Stamp> stamps = new LinkedHashMap<>();
        for (Path file : files) {
            try {
                BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
                stamps.put(
                        file,
                        new Stamp(
                                attributes.size(),
                                attributes.lastModifiedTime(),
                                String.valueOf(attributes.fileKey())));
            } catch (IOException e) {
                stamps.put(file, Stamp.ABSENT);
            }
        }
        return stamps;
    }

    @Deactivate
    void deactivate() throws IOException, InterruptedException {
        thread.interrupt();
        thread.join();
        plan.ifPresent(ServiceRegistration::unregister);
        settings.ifPresent(ServiceRegistration::unregister);
        Bundle framework = context.getBundle(Constants.SYSTEM_BUNDLE_ID);
        if (framework == null || framework.getState() == Bundle.STOPPING) {
            return;
        }
        for (Configuration configuration : written.values()) {
            configuration.delete();
        }
    }
}
