package org.nemorelay.daemon.internal;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nemorelay.broker.Broker;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.control.PluginReport;
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

    void said(ControlSession.Worker worker, List<PluginReport> plugins) {
        for (PluginReport plugin : plugins) {
            if (plugin.state().equals("quarantined") && !worker.plugins.contains(plugin)) {
                log.log(
                        Level.WARN,
                        TransitionLog.TARGET,
                        "worker_plugin_quarantined",
                        plugin.reason(),
                        "fingerprint",
                        worker.fingerprint,
                        "worker_id",
                        worker.id,
                        "plugin",
                        plugin.kind());
            }
        }
        worker.plugins = plugins;
        boolean published =
                broker.workers().stream().anyMatch(status -> status.workerId().equals(worker.id));
        if (published) {
            unpublished.remove(worker.fingerprint);
        } else {
            unpublished.put(worker.fingerprint, new Unpublished(worker.id, plugins));
        }
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
