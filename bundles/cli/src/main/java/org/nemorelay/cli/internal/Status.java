package org.nemorelay.cli.internal;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
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
    private static final int LISTENS_MILLIS = 2_000;
    private static final String UNSEEN = "lines of running workers are missing here: ";
    private static final String PLUGINS = "plugins";
    private static final List<String> FACTS = List.of("sessions", "routes", "workers", PLUGINS);

    private static final String STOPPING = "stopping";

    private Status() {}

    /** @param options with the flags of the command and the tree whose settings hold */
    public static void run(LaunchOptions options, boolean json, PrintStream out) {
        Map<String, Object> status = read(options.environment(), DaemonPort.of(options));
        out.print(json ? Json.write(status) + "\n" : text(status));
    }

    /**
     * What running workers say of their plugins.
     *
     * @param unseen one line about why this user does not see what they say; empty where none runs
     */
    record Workers(List<Map<String, Object>> plugins, Optional<String> unseen) {}

    static Workers workers(LaunchOptions options) {
        int port;
        try {
            port = DaemonPort.of(options);
        } catch (RelayException e) {
            return new Workers(List.of(), Optional.of(UNSEEN + e.getMessage() + " (or give --port)"));
        }
        Optional<JsonObject> serving = asked(options.environment(), port).serving();
        if (serving.isEmpty()) {
            return new Workers(
                    List.of(),
                    listens(port)
                            ? Optional.of(UNSEEN + "this account has no control socket of what serves at 127.0.0.1:"
                                    + port + "; ask as the account that runs the daemon")
                            : Optional.empty());
        }
        List<Map<String, Object>> plugins = new ArrayList<>();
        serving.get().objects(PLUGINS).forEach(plugin -> {
            Map<String, Object> line = new LinkedHashMap<>(plugin.values());
            line.put("source", "worker");
            plugins.add(line);
        });
        return new Workers(plugins, Optional.empty());
    }

    /** Whoever it is, with or without TLS. */
    private static boolean listens(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), LISTENS_MILLIS);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** What is in force in the daemon and its workers; empty where this user may not ask the daemon, or none runs. */
    static Optional<JsonObject> configuration(LaunchOptions options) {
        try {
            Path socket = AdminClient.socket(StateFolder.of(options.environment()), DaemonPort.of(options));
            return ask(socket, "configuration");
        } catch (RelayException e) {
            if (e.kind() != FailureKind.CONFIGURATION) {
                throw e;
            }
            return Optional.empty();
        }
    }

    private static Map<String, Object> read(Map<String, String> environment, int port) {
        String address = "http://127.0.0.1:" + port;
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("address", address);
        Owned owned = asked(environment, port);
        status.put(STOPPING, owned.stopping());
        if (owned.serving().isPresent()) {
            JsonObject all = owned.serving().get();
            status.put("source", "control_socket");
            status.put("daemon", all.object("daemon").values());
            for (String fact : FACTS) {
                status.put(fact, all.array(fact));
            }
            return status;
        }
        PublicPaths paths = new PublicPaths(address);
        status.put("source", "public_paths");
        status.put("daemon", health(paths, address, owned.stopping()));
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

    private static Map<String, Object> health(PublicPaths paths, String address, List<Map<String, Object>> stopping) {
        try {
            return paths.health().values();
        } catch (RelayException e) {
            if (e.kind() == FailureKind.UNAVAILABLE && !stopping.isEmpty()) {
                throw new RelayException(FailureKind.UNAVAILABLE, noneServes(address, stopping), e);
            }
            throw e;
        }
    }

    static String noneServes(String address, List<Map<String, Object>> stopping) {
        StringBuilder text = new StringBuilder("no daemon serves at " + address);
        for (Map<String, Object> daemon : stopping) {
            text.append("; the one with process id ").append(daemon.get("pid")).append(" is stopping");
            if (daemon.containsKey("requests")) {
                text.append(" (requests that still run: ")
                        .append(daemon.get("requests"))
                        .append(", for ")
                        .append(daemon.get("seconds_left"))
                        .append(" s at most)");
            }
        }
        return text.append("; another may be started at once with `nemo-relay daemon`")
                .toString();
    }

    /** As the control socket tells it: on the public path a worker whose place is kept is called ready, and not available. */
    static Map<String, Object> shown(JsonObject worker) {
        Map<String, Object> shown = new LinkedHashMap<>(worker.values());
        if (worker.string("state").equals("ready") && !worker.bool("control_available")) {
            shown.put("state", "reconnecting");
        }
        return shown;
    }

    /**
     * What this user's own daemons say.
     *
     * @param serving of the one that serves; empty where this user has no such socket: the daemon may be another user's
     * @param stopping of those that listened on the port and still have requests
     */
    private record Owned(Optional<JsonObject> serving, List<Map<String, Object>> stopping) {}

    private static Owned asked(Map<String, String> environment, int port) {
        Optional<JsonObject> serving = Optional.empty();
        List<Map<String, Object>> stopping = new ArrayList<>();
        try {
            StateFolder folder = StateFolder.of(environment);
            serving = ask(AdminClient.socket(folder, port));
            if (serving.isPresent() && serving.get().keys().contains(STOPPING)) {
                // It could not move its socket out of a successor's way.
                stopping.add(serving.get().object(STOPPING).values());
                serving = Optional.empty();
            }
            for (Path socket : AdminClient.stopping(folder, port)) {
                ask(socket).ifPresent(answer -> stopping.add(stopping(answer)));
            }
        } catch (RelayException e) {
            if (e.kind() != FailureKind.CONFIGURATION) {
                throw e;
            }
        }
        return new Owned(serving, stopping);
    }

    /** One that has just begun to stop may still answer as it did before. */
    private static Map<String, Object> stopping(JsonObject answer) {
        return answer.optionalObject(STOPPING)
                .map(JsonObject::values)
                .orElseGet(() -> Map.of("pid", answer.object("daemon").integer("pid", 1, Long.MAX_VALUE)));
    }

    private static Optional<JsonObject> ask(Path socket) {
        return ask(socket, "status");
    }

    private static Optional<JsonObject> ask(Path socket, String verb) {
        try {
            return Optional.of(new AdminClient(socket).call(verb, Map.of(), TIMEOUT));
        } catch (RelayException e) {
            return switch (e.kind()) {
                case UNAVAILABLE, UNAUTHORIZED, NOT_FOUND -> Optional.empty();
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
                rows(fact.equals(PLUGINS)
                                ? items.stream()
                                        .map(item -> Planned.inWords((Map<?, ?>) item))
                                        .toList()
                                : items)
                        .append(text);
            } else {
                text.append("unknown, as this user has no control socket of the daemon\n");
            }
        }
        if (status.get(STOPPING) instanceof List<?> items && !items.isEmpty()) {
            text.append("\nStopping: ").append(items.size()).append('\n');
            rows(items).append(text);
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
                row.add((row.isEmpty() ? "  " : "") + (value == null || value.equals("") ? "-" : value.toString()));
            }
            rows.add(row);
        }
        return new Table(items.isEmpty() ? List.of() : rows);
    }
}
