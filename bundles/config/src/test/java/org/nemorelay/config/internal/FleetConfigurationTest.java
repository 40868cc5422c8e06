package org.nemorelay.config.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

class FleetConfigurationTest {
    private static final String NATS = """
            [distributed]
            carrier = "main"

            [distributed.carriers.main]
            type = "nats"
            servers = ["nats://a:4222", "nats://b:4222"]
            agent_queue = ""
            """;

    private static Map<String, Map<String, Object>> resolve(String role, String user, String system) {
        LaunchOptions options = new LaunchOptions(role, Path.of("/home"), Map.of(), Map.of());
        return FleetConfiguration.resolve(
                options,
                user.isEmpty() ? Optional.empty() : Optional.of(TomlFile.parse("user.toml", user)),
                system.isEmpty() ? Optional.empty() : Optional.of(TomlFile.parse("system.toml", system)));
    }

    private static void refused(String role, String text, String... parts) {
        RelayException refused = assertThrows(RelayException.class, () -> resolve(role, text, ""), text);
        assertEquals(FailureKind.CONFIGURATION, refused.kind());
        for (String part : parts) {
            assertTrue(refused.getMessage().contains(part), part + " in: " + refused.getMessage());
        }
    }

    @Test
    void instancesBecomeFactoryConfigurations() {
        Map<String, Map<String, Object>> pids = resolve(
                "frontend",
                NATS
                        + "[distributed.carriers.other]\ntype = \"nats\"\n[[frontend.models]]\nname=\"m\"\nbackend=\"echo\"\n",
                "");
        assertEquals(
                List.of("nats://a:4222", "nats://b:4222"),
                pids.get("org.nemorelay.carrier.nats~main").get("servers"));
        assertEquals("", pids.get("org.nemorelay.carrier.nats~main").get("agent.queue"));
        assertEquals("other", pids.get("org.nemorelay.carrier.nats~other").get("carrier"));
        assertEquals("direct", pids.get("org.nemorelay.carrier.direct~direct").get("carrier"));
        assertEquals(Map.of("carrier", "main", "dial", "direct"), pids.get("org.nemorelay.distributed"));
        assertEquals(
                List.of("{\"name\":\"m\",\"backend\":\"echo\",\"file\":\"\",\"context_size\":0}"),
                pids.get("org.nemorelay.frontend").get("models"));
        assertEquals("frontend-8080", pids.get("org.nemorelay.admin.process").get("process"));
    }

    @Test
    void theSystemsFileWinsKeyByKey() {
        Map<String, Map<String, Object>> pids = resolve(
                "node",
                NATS + "[node]\nname = \"mine\"\nheartbeat_ms = 500\n",
                "[node]\nname = \"theirs\"\n[distributed.carriers.main]\nuser = \"u\"\npassword_file = \"/p\"\n");
        assertEquals("theirs", pids.get("org.nemorelay.node").get("name"));
        assertEquals(500L, pids.get("org.nemorelay.node").get("heartbeat_ms"));
        assertEquals("u", pids.get("org.nemorelay.carrier.nats~main").get("user"));
    }

    @Test
    void anAgentWorkerTakesAnyNumberOfRunsAndNoMcpServerUnlessItIsTold() {
        Map<String, Object> told = resolve(
                        "agent-worker",
                        NATS + "[agent_worker]\nmax_agent_runs = 4\nmcp_commands = [\"calc-mcp\"]\n",
                        "")
                .get("org.nemorelay.agents");
        assertEquals(4, told.get("max_agent_runs"));
        assertEquals(List.of("calc-mcp"), told.get("mcp_commands"));
        Map<String, Object> defaults = resolve("agent-worker", NATS, "").get("org.nemorelay.agents");
        assertEquals(0, defaults.get("max_agent_runs"));
        assertEquals(0, defaults.get("max_tasks"));
        assertEquals(List.of(), defaults.get("mcp_commands"));
        assertEquals(List.of(), defaults.get("mcp_urls"));
    }

    @Test
    void everyMistakeIsNamedWithItsPlace() {
        for (String role : List.of("frontend", "node", "agent-worker")) {
            refused(role, "", "[distributed] carrier", "\"local\"");
            refused(role, "[distributed]\ncarrier = \"local\"\n", "user.toml:2", "[distributed] carrier", role);
            refused(role, "[distributed]\ncarrier = \"x\"\n", "user.toml:2", "[distributed.carriers.x]", "direct");
            refused(role, "[distributed]\ncarrier = \"direct\"\n", "only dials");
            refused(role, "distributed = 1\n", "user.toml:1", "must be a table");
            refused(role, NATS.replace("carrier = \"main\"", "carrier = 5"), "user.toml:2", "must be");
            refused(role, NATS.replace("carrier = \"main\"", "carier = \"main\""), "user.toml:2", "\"carier\"");
            refused(role, NATS + "server = \"x\"\n", "user.toml:8", "\"server\"", "servers");
            refused(role, NATS + "user = \"x\"\n", "user.toml:8", "password_file");
            refused(role, NATS + "tls_key = \"x\"\n", "user.toml:8", "tls_cert");
            refused(role, NATS.replace("nats://a", "nats://me:secret@a"), "user.toml:6", "credentials");
            refused(role, NATS.replace("type = \"nats\"", "type = \"pigeon\""), "user.toml:5", "\"nats\"");
            refused(role, NATS.replace("type = \"nats\"\n", ""), "type", "missing");
            refused(role, NATS + "[distributed.carriers]\nx = 1\n", "user.toml");
            refused(
                    role,
                    NATS.replace("carrier = \"main\"", "carrier = \"main\"\ndial = \"no\""),
                    "user.toml:3",
                    "dial");
        }
        refused("frontend", NATS + "[frontend]\nport = 70000\n", "user.toml:9", "port");
        refused("frontend", NATS + "[frontend]\nbind = \"0.0.0.0\"\n", "user.toml:9", "registration_token_file");
        refused("frontend", NATS + "[[frontend.models]]\nname = \"m\"\n", "user.toml:8", "backend", "missing");
        refused("frontend", NATS + "[frontend]\nmodels = 3\n", "user.toml:9", "array of tables");
        refused(
                "frontend",
                NATS
                        + "[[frontend.models]]\nname=\"m\"\nbackend=\"e\"\n[[frontend.models]]\nname=\"m\"\nbackend=\"e\"\n",
                "user.toml:12",
                "another model");
        refused("node", NATS + "[node]\nfrontend = \"ftp://x\"\n", "user.toml:9", "frontend");
        refused("node", NATS + "[node.backends.x]\ncommand = []\n", "user.toml:9", "command");
        refused("node", NATS + "[node.backends.x]\n", "command", "missing");
        refused("node", NATS + "[node]\nheartbeat_ms = 5\n", "user.toml:9", "heartbeat_ms");
        refused("agent-worker", NATS + "[agent_worker]\nmax_agent_runs = -1\n", "user.toml:9", "max_agent_runs");
    }

    /** Of each table every key that it says it knows, so that a new one is in this test by itself. */
    @ParameterizedTest
    @CsvSource({
        "frontend, [distributed]",
        "frontend, [frontend]",
        "frontend, [[frontend.models]]",
        "node, [node]",
        "node, [node.backends.x]",
        "agent-worker, [agent_worker]",
        "node, [distributed.carriers.one]; type = \"nats\"",
        "node, [distributed.carriers.one]; type = \"direct\"",
        "node, [distributed.carriers.one]; type = \"local\""
    })
    void everyKeyOfTheWrongTypeTellsPlaceNameAndWhatIsRight(String role, String begin) {
        String table = begin.split(";")[0];
        String common = table.equals("[distributed]") ? "" : NATS;
        List<String> needed = switch (table) {
            case "[distributed]" -> List.of("carrier = \"x\"");
            case "[[frontend.models]]" -> List.of("name = \"m\"", "backend = \"b\"");
            case "[node.backends.x]" -> List.of("command = [\"c\"]");
            default -> begin.contains(";") ? List.of(begin.split("; ")[1]) : List.of();
        };
        String unknown = wrong(role, common, table, needed, "zz");
        assertTrue(unknown.contains(": " + table + " \"zz\" is not a known key; known: "), unknown);
        for (String key : unknown.substring(unknown.indexOf("known: ") + 7).split(", ")) {
            String message = wrong(role, common, table, needed, key);
            assertTrue(message.contains(": " + table + " " + key + " must be "), message);
            assertTrue(message.endsWith(", it is a date or time"), message);
        }
    }

    /** What is said of a table with one key that is a date. */
    private static String wrong(String role, String common, String table, List<String> needed, String key) {
        List<String> lines = new ArrayList<>(
                needed.stream().filter(line -> !line.startsWith(key + " ")).toList());
        lines.add(key + " = 1979-05-27");
        String text = common + table + "\n" + String.join("\n", lines) + "\n";
        String message = assertThrows(RelayException.class, () -> resolve(role, text, ""), text)
                .getMessage();
        long line = text.lines().count();
        assertTrue(message.startsWith("user.toml:" + line + ":1: "), message);
        return message;
    }
}
