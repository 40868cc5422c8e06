package org.nemorelay.cli.internal;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.admin.AdminClient;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * {@code nemo-relay status}: what a daemon on this machine knows, each fact for itself: a session proves no worker. Its
 * owner sees all of it over the control socket; others see what the public paths tell.
 */
public final class Status {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final List<String> FACTS = List.of("sessions", "routes", "workers", "plugins");

    private Status() {}

    /** @param options with the flags of the command and the tree whose settings hold */
    public static void run(LaunchOptions options, boolean json, PrintStream out) {
        Map<String, Object> status = read(options.environment(), DaemonPort.of(options));
        out.print(json ? Json.write(status) + "\n" : text(status));
    }

    /** What running workers say of their plugins; empty where this user may not ask the daemon, or none runs. */
    static List<Map<String, Object>> plugins(LaunchOptions options) {
        List<Map<String, Object>> plugins = new ArrayList<>();
        overControlSocket(options.environment(), DaemonPort.of(options))
                .ifPresent(status -> status.objects("plugins").forEach(plugin -> {
                    Map<String, Object> line = new LinkedHashMap<>(plugin.values());
                    line.put("source", "worker");
                    plugins.add(line);
                }));
        return plugins;
    }

    private static Map<String, Object> read(Map<String, String> environment, int port) {
        String address = "http://127.0.0.1:" + port;
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("address", address);
        Optional<JsonObject> all = overControlSocket(environment, port);
        if (all.isPresent()) {
            status.put("source", "control_socket");
            status.put("daemon", all.get().object("daemon").values());
            for (String fact : FACTS) {
                status.put(fact, all.get().array(fact));
            }
            return status;
        }
        PublicPaths paths = new PublicPaths(address);
        status.put("source", "public_paths");
        status.put("daemon", paths.health().values());
        try {
            status.put(
                    "workers",
                    paths.workers().objects("workers").stream()
                            .map(Status::shown)
                            .toList());
        } catch (JsonException e) {
            throw new RelayException(FailureKind.INTERNAL, "the daemon at " + address + ": " + e.getMessage(), e);
        }
        return status;
    }

    /** As the control socket tells it: on the public path a worker whose place is kept is called ready, and not available. */
    static Map<String, Object> shown(JsonObject worker) {
        Map<String, Object> shown = new LinkedHashMap<>(worker.values());
        if (worker.string("state").equals("ready") && !worker.bool("control_available")) {
            shown.put("state", "reconnecting");
        }
        return shown;
    }

    /** Empty where this user has no such socket: the daemon may be another user's. */
    private static Optional<JsonObject> overControlSocket(Map<String, String> environment, int port) {
        try {
            return Optional.of(new AdminClient(AdminClient.socket(StateFolder.of(environment), port))
                    .call("status", Map.of(), TIMEOUT));
        } catch (RelayException e) {
            return switch (e.kind()) {
                case UNAVAILABLE, UNAUTHORIZED, CONFIGURATION, NOT_FOUND -> Optional.empty();
                default -> throw e;
            };
        }
    }

    static String text(Map<String, Object> status) {
        StringBuilder text = new StringBuilder();
        text.append("Daemon at ").append(status.get("address")).append('\n');
        List<List<String>> facts = new ArrayList<>();
        ((Map<?, ?>) status.get("daemon"))
                .forEach((name, value) -> facts.add(List.of("  " + name, String.valueOf(value))));
        new Table(facts).append(text);
        for (String fact : FACTS) {
            String title = fact.substring(0, 1).toUpperCase(Locale.ROOT) + fact.substring(1);
            text.append('\n').append(title).append(": ");
            if (status.get(fact) instanceof List<?> items) {
                text.append(items.isEmpty() ? "none" : String.valueOf(items.size()))
                        .append('\n');
                rows(items).append(text);
            } else {
                text.append("unknown, as this user has no control socket of the daemon\n");
            }
        }
        return text.toString();
    }

    /** One row for each item, one column for each name that any of them has. */
    private static Table rows(List<?> items) {
        Set<String> names = new LinkedHashSet<>();
        for (Object item : items) {
            ((Map<?, ?>) item).keySet().forEach(name -> names.add((String) name));
        }
        List<List<String>> rows = new ArrayList<>();
        List<String> head = new ArrayList<>();
        names.forEach(name -> head.add((head.isEmpty() ? "  " : "") + name.toUpperCase(Locale.ROOT)));
        rows.add(head);
        for (Object item : items) {
            List<String> row = new ArrayList<>();
            for (String name : names) {
                Object value = ((Map<?, ?>) item).get(name);
                row.add((row.isEmpty() ? "  " : "") + (value == null ? "-" : value.toString()));
            }
            rows.add(row);
        }
        return new Table(items.isEmpty() ? List.of() : rows);
    }
}
