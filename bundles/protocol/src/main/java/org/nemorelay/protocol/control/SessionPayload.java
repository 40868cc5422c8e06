package org.nemorelay.protocol.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.Digest;

/** What an authenticated session asks for; its compact JSON in declared key order is what the request's hash covers (relay-daemon 3.5). */
public sealed interface SessionPayload {
    /** The {@code type} of the command that carries it. */
    String type();

    /** The payload as JSON, keys in declared order. */
    Map<String, Object> json();

    default Digest sha256() {
        return Digest.sha256(Wire.utf8(Json.write(json())));
    }

    /** Worker: probe me, then publish me. */
    record Ready(String workerId) implements SessionPayload {
        @Override
        public String type() {
            return "ready";
        }

        @Override
        public Map<String, Object> json() {
            return Json.object("worker_id", workerId);
        }
    }

    /** MCP: this session ends. */
    record Release() implements SessionPayload {
        @Override
        public String type() {
            return "release";
        }

        @Override
        public Map<String, Object> json() {
            return Map.of();
        }
    }

    /**
     * Worker: I end; send me nothing more, and tell me by a drain when nothing is under way to me. Only for a daemon that offers
     * {@link Capabilities#PEER}.
     */
    record Leave() implements SessionPayload {
        @Override
        public String type() {
            return "leave";
        }

        @Override
        public Map<String, Object> json() {
            return Map.of();
        }
    }

    /** MCP: the launch did not lead to a worker. */
    record ActivationFailed(String activationId, ActivationFailure reason) implements SessionPayload {
        @Override
        public String type() {
            return "activation_failed";
        }

        @Override
        public Map<String, Object> json() {
            return Json.object("activation_id", activationId, "reason", reason.word());
        }
    }

    /** MCP: the launch is of no use any more, unless its worker is published already. */
    record CancelActivation(String activationId) implements SessionPayload {
        @Override
        public String type() {
            return "cancel_activation";
        }

        @Override
        public Map<String, Object> json() {
            return Json.object("activation_id", activationId);
        }
    }

    /** Worker: the state of its plugins, and what is in force in it. Only for a daemon that offers {@link Capabilities#PEER}. */
    record ReportPlugins(List<PluginReport> plugins, List<SettingReport> settings) implements SessionPayload {
        public ReportPlugins {
            plugins = List.copyOf(plugins);
            settings = List.copyOf(settings);
        }

        @Override
        public String type() {
            return "report_plugins";
        }

        @Override
        public Map<String, Object> json() {
            List<Object> items = new ArrayList<>();
            for (PluginReport plugin : plugins) {
                Map<String, Object> item = Json.object(
                        "kind",
                        plugin.kind(),
                        "version",
                        plugin.version(),
                        "state",
                        plugin.state(),
                        "file",
                        plugin.file(),
                        "reason",
                        plugin.reason(),
                        "planned",
                        plugin.planned());
                if (plugin.outdated()) {
                    item.put("outdated", true);
                }
                items.add(item);
            }
            List<Object> values = new ArrayList<>();
            for (SettingReport one : settings) {
                values.add(Json.object("name", one.name(), "value", one.value(), "source", one.source()));
            }
            return Json.object("plugins", items, "settings", values);
        }
    }
}
