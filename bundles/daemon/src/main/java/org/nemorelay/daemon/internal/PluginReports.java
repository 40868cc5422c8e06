package org.nemorelay.daemon.internal;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.nemorelay.broker.Broker;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.SettingReport;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * What workers say of their plugins. A worker that cannot start says why before it ends, so its last word is kept until
 * its user's next worker speaks. Of the control thread.
 */
final class PluginReports {
    private final Broker broker;
    private final Sessions sessions;
    private final EventLog log;
    private final Map<Fingerprint, Unpublished> unpublished = new LinkedHashMap<>();

    private record Unpublished(String workerId, List<PluginReport> plugins) {}

    PluginReports(Broker broker, Sessions sessions, EventLog log) {
        this.broker = broker;
        this.sessions = sessions;
        this.log = log;
    }

    void said(ControlSession.Worker worker, List<PluginReport> plugins, List<SettingReport> settings) {
        for (PluginReport plugin : plugins) {
            if (!worker.plugins.contains(plugin)) {
                switch (plugin.state()) {
                    case "quarantined" ->
                        log(
                                worker,
                                plugin,
                                Level.ERROR,
                                configuration(plugin) ? "worker_configuration_rejected" : "worker_plugin_quarantined",
                                plugin.reason());
                    case "failing" -> log(worker, plugin, Level.WARN, "worker_plugin_failing", plugin.reason());
                    case "active" -> {
                        if (plugin.outdated()) {
                            log(worker, plugin, Level.ERROR, "worker_plugin_outdated", plugin.reason());
                        }
                        if (worker.plugins.stream().anyMatch(before -> recovers(before, plugin))) {
                            log(
                                    worker,
                                    plugin,
                                    Level.INFO,
                                    "worker_plugin_recovered",
                                    "plugin " + plugin.kind() + " works again");
                        }
                    }
                    default -> {}
                }
            }
        }
        worker.plugins = plugins;
        worker.settings = settings;
        boolean published =
                broker.workers().stream().anyMatch(status -> status.workerId().equals(worker.id));
        if (published) {
            unpublished.remove(worker.fingerprint);
        } else {
            unpublished.put(worker.fingerprint, new Unpublished(worker.id, plugins));
        }
    }

    /** Whether it is of config.toml or plugins.toml itself. */
    private static boolean configuration(PluginReport plugin) {
        return plugin.kind().isEmpty() && plugin.file().endsWith(".toml");
    }

    private static boolean recovers(PluginReport before, PluginReport now) {
        return before.state().equals("failing") && before.kind().equals(now.kind());
    }

    private void log(ControlSession.Worker worker, PluginReport plugin, Level level, String event, String message) {
        log.log(
                level,
                TransitionLog.TARGET,
                event,
                message,
                "fingerprint",
                worker.fingerprint,
                "worker_id",
                worker.id,
                plugin.kind().isEmpty() ? "file" : "plugin",
                plugin.kind().isEmpty() ? plugin.file() : plugin.kind());
    }

    /** What is in force in each worker that says so. */
    Map<String, List<SettingReport>> settings() {
        Map<String, List<SettingReport>> all = new TreeMap<>();
        sessions.workers.values().forEach(worker -> all.put(worker.id, worker.settings));
        return all;
    }

    /** By worker. */
    Map<String, List<PluginReport>> all() {
        Map<String, List<PluginReport>> all = new LinkedHashMap<>();
        unpublished.values().forEach(said -> all.put(said.workerId(), said.plugins()));
        sessions.workers.values().stream()
                .sorted((a, b) -> a.id.compareTo(b.id))
                .forEach(worker -> all.put(worker.id, worker.plugins));
        return all;
    }
}
