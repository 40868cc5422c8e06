package org.nemorelay.cli.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.json.Json;

/** Facts stand apart, and what cannot be seen is not called none. */
class StatusTest {
    private final Map<String, Object> status = new LinkedHashMap<>(
            Map.of("address", "http://127.0.0.1:1", "source", "control_socket", "daemon", Map.of("version", "0.1.0")));

    private static Map<String, Object> item(String first, Object a, String second, Object b) {
        Map<String, Object> item = new LinkedHashMap<>();
        item.put(first, a);
        item.put(second, b);
        return item;
    }

    @Test
    void theOwnerSeesEveryFact() {
        status.put("sessions", List.of(item("session_id", "s1", "connected", true)));
        status.put("routes", List.of());
        status.put(
                "workers",
                List.of(item("worker_id", "w1", "in_flight", 0L), item("worker_id", "w2", "state", "ready")));
        status.put("plugins", List.of());
        assertEquals("""
                Daemon at http://127.0.0.1:1
                  version  0.1.0

                Sessions: 1
                  SESSION_ID  CONNECTED
                  s1          true

                Routes: none

                Workers: 2
                  WORKER_ID  IN_FLIGHT  STATE
                  w1         0          -
                  w2         -          ready

                Plugins: none
                """, Status.text(status));
    }

    /** The same word as in `plugins list`; programs read two truths. */
    @Test
    void aPluginIsPlannedInTheWordsOfItsList() {
        for (String fact : List.of("sessions", "routes", "workers")) {
            status.put(fact, List.of());
        }
        status.put(
                "plugins",
                List.of(
                        plugin("audit", true, false),
                        plugin("policy", true, true),
                        plugin("spare", false, false),
                        new LinkedHashMap<>(Map.of("kind", "silent", "state", "active")),
                        plugin("", false, false)));
        assertEquals("""
                Plugins: 5
                  KIND    PLANNED   STATE
                  audit   optional  active
                  policy  required  active
                  spare   no        active
                  silent  unknown   active
                  -       -         active
                """, Status.text(status).substring(Status.text(status).indexOf("Plugins")));
        assertEquals("""
                kind     policy
                planned  required
                state    active
                """, PluginCommands.text(plugin("policy", true, true)));
    }

    private static Map<String, Object> plugin(String kind, boolean planned, boolean required) {
        Map<String, Object> plugin = new LinkedHashMap<>();
        plugin.put("kind", kind);
        plugin.put("planned", planned);
        plugin.put("required", required);
        plugin.put("state", "active");
        return plugin;
    }

    /** That of another account, with or without TLS; that none answers is no reason to say anything. */
    @Test
    void whoMayNotAskTheDaemonIsTold(@TempDir Path folder) throws IOException {
        Map<String, String> environment = Map.of("HOME", folder.toString());
        int port;
        try (ServerSocket another = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = another.getLocalPort();
            assertEquals(
                    new Status.Workers(
                            List.of(),
                            Optional.of(
                                    "lines of running workers are missing here: this account has no control socket of"
                                            + " what serves at 127.0.0.1:" + port
                                            + "; ask as the account that runs the daemon")),
                    Status.workers(new LaunchOptions("plugins", folder, Map.of("port", "" + port), environment)));
        }
        assertEquals(
                new Status.Workers(List.of(), Optional.empty()),
                Status.workers(new LaunchOptions("plugins", folder, Map.of("port", "" + port), environment)));
        Path file =
                Files.createDirectories(folder.resolve(".config/nemo-relay")).resolve("config.toml");
        Files.writeString(file, "[daemon]\nport = \"x\"\n");
        Files.createDirectories(folder.resolve("etc"));
        String unseen = Status.workers(new LaunchOptions("plugins", folder, Map.of(), environment))
                .unseen()
                .orElseThrow();
        assertTrue(unseen.startsWith("lines of running workers are missing here: " + file + ":2:1: "), unseen);
    }

    @Test
    void aDaemonThatStopsIsToldBesideItsSuccessorOrAlone() {
        Map<String, Object> stops = new LinkedHashMap<>();
        stops.put("pid", 71L);
        stops.put("requests", 2L);
        stops.put("seconds_left", 87L);
        for (String fact : List.of("sessions", "routes", "workers", "plugins")) {
            status.put(fact, List.of());
        }
        status.put("stopping", List.of(stops, Map.of("pid", 72L)));
        assertEquals("""
                Daemon at http://127.0.0.1:1
                  version  0.1.0

                Sessions: none

                Routes: none

                Workers: none

                Plugins: none

                Stopping: 2
                  PID  REQUESTS  SECONDS_LEFT
                  71   2         87
                  72   -         -
                """, Status.text(status));
        assertEquals(
                "no daemon serves at http://127.0.0.1:1; the one with process id 71 is stopping (requests that still run: 2,"
                        + " for 87 s at most); another may be started at once with `nemo-relay daemon`",
                Status.noneServes("http://127.0.0.1:1", List.of(stops)));
    }

    /** The public path has the stock program's words: `ready`, and not available, for a worker whose place is kept. */
    @Test
    void aWorkerThatIsOutOfReachIsNotCalledReady() {
        assertEquals("reconnecting", shown("ready", false));
        assertEquals("ready", shown("ready", true));
        assertEquals("draining", shown("draining", false));
    }

    private static Object shown(String state, boolean available) {
        String worker = "{\"state\":\"" + state + "\",\"control_available\":" + available + "}";
        return Status.shown(Json.parseObject(worker)).get("state");
    }

    @Test
    void othersSeeWhatThePublicPathsTell() {
        status.put("workers", List.of());
        assertEquals("""
                Daemon at http://127.0.0.1:1
                  version  0.1.0

                Sessions: unknown, as this user has no control socket of the daemon

                Routes: unknown, as this user has no control socket of the daemon

                Workers: none

                Plugins: unknown, as this user has no control socket of the daemon
                """, Status.text(status));
    }
}
