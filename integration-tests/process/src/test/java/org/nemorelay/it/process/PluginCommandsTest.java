package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginConfig;

/** {@code plugins list|validate|inspect} and {@code config show}: without a worker nothing runs, with one its state is there too. */
@Timeout(300)
class PluginCommandsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String COMPONENT = """
            [[components]]
            kind = "marking"
            required = false
            [components.config]
            file = "%s"
            api_key = "s3cret"
            """;

    @TempDir
    Path folder;

    @Test
    void withoutAWorkerNothingRunsAndWithOneItsStateIsThereToo() throws Exception {
        Path mark = folder.resolve("mark");
        try (OneUser bench = new OneUser(folder, COMPONENT.formatted(mark))) {
            Path etc = bench.executable.resolve("../../etc").normalize();
            Path jar = new PluginJar("marking", Marking.class, HookPolicy.class).deploy(etc.resolve("plugins"));
            new PluginJar("lying", Marking.class, HookPolicy.class).deploy(etc.resolve("plugins"));
            // What a user puts beside the own configuration is nobody's plugin.
            new PluginJar("users_own", Marking.class, HookPolicy.class)
                    .deploy(bench.user.home().resolve(".config/nemo-relay/plugins"));
            int first = Relay.observabilityToml(folder).split("\n").length + 1;
            String port = Integer.toString(Relay.freePort());

            List<JsonObject> found = objects(run(bench, 0, "plugins", "list", "--json", "--port", port));
            for (JsonObject line : found) {
                assertTrue(
                        line.values().keySet().containsAll(Set.of("kind", "version", "state", "file", "reason")),
                        line.toString());
                assertEquals("check", line.string("source"));
                assertFalse(line.has("worker_id"));
            }
            assertTrue(found.stream().noneMatch(line -> line.string("kind").equals("users_own")), found::toString);
            JsonObject idle = of(found, "lying");
            assertEquals(List.of("idle", "1.0.0"), List.of(idle.string("state"), idle.string("version")));
            assertEquals(jar.toString(), of(found, "marking").string("file"));
            assertTrue(run(bench, 0, "plugins", "list", "--port", port)
                    .stdout()
                    .lines()
                    .anyMatch(line -> line.matches("marking +1\\.0\\.0 +idle +optional +checked +.*marking\\.jar +-")));
            assertTrue(run(bench, 0, "plugins", "list", "--port", port)
                    .stdout()
                    .lines()
                    .anyMatch(line -> line.matches("lying +1\\.0\\.0 +idle +no +checked +.*lying\\.jar +-")));

            assertTrue(run(bench, 0, "plugins", "validate").stdout().contains("ok: plugin \"marking\" 1.0.0 (" + jar));
            JsonObject valid = Json.parseObject(
                    run(bench, 0, "plugins", "validate", "--json").stdout().strip());
            assertTrue(valid.bool("valid"));
            Path lacking = new PluginJar("lacking", Marking.class, HookPolicy.class)
                    .header("Import-Package", "org.nemorelay.plugin.api,com.missing")
                    .write(folder.resolve("lacking.jar"));
            assertEquals(
                    "plugin file " + lacking + " needs the package com.missing, which nothing here provides; build it"
                            + " for this version or add what it needs\n",
                    run(bench, 1, "plugins", "validate", lacking.toString()).stdout());
            severalJarsAreCheckedEachForItself(bench, jar, lacking);

            JsonObject one = Json.parseObject(run(bench, 0, "plugins", "inspect", "marking", "--json", "--port", port)
                    .stdout()
                    .strip());
            assertEquals(jar.toString(), one.string("file"));
            assertEquals(etc.resolve("plugins.toml") + ":" + first + ":1", one.string("planned_at"));
            assertFalse(one.bool("required"));
            assertEquals(List.of(), one.objects("workers"));
            assertEquals(
                    List.of(
                            "api_key [REDACTED] " + etc.resolve("plugins.toml") + ":" + (first + 5) + ":1",
                            "file " + mark + " " + etc.resolve("plugins.toml") + ":" + (first + 4) + ":1"),
                    one.objects("configuration").stream()
                            .map(value ->
                                    value.string("key") + " " + value.string("value") + " " + value.string("source"))
                            .toList());

            String shown = run(bench, 0, "config", "show", "--origin").stdout();
            assertTrue(
                    shown.lines()
                            .anyMatch(line -> line.matches("marking\\.file = \"" + mark + "\" +# checked: "
                                    + etc.resolve("plugins.toml") + ":" + (first + 4) + ":1")),
                    shown);
            assertTrue(
                    shown.lines()
                            .anyMatch(line -> line.startsWith("upstream.openai_base_url = ")
                                    && line.contains("# checked: " + etc.resolve("config.toml") + ":")),
                    shown);
            assertTrue(shown.lines().anyMatch(line -> line.endsWith("# checked: default")), shown);
            for (String unset : List.of(
                    "daemon.tls_cert",
                    "daemon.advertise_address",
                    "upstream.openai_auth_header",
                    "daemon.trusted_proxies")) {
                assertTrue(
                        shown.lines().anyMatch(line -> line.matches("# " + unset + " is not set +# checked: default")),
                        unset);
            }
            assertTrue(
                    shown.lines().anyMatch(line -> line.matches("daemon.require_worker = false +# checked: default")),
                    shown);
            assertTrue(
                    shown.lines()
                            .anyMatch(line ->
                                    line.matches("daemon.logging.stderr_format = \"human\" +# checked: default")),
                    shown);
            Proc.Result loud = bench.user
                    .withToken(bench.executable.toString())
                    .command("config", "show", "--origin")
                    .env("NEMO_RELAY_LOG", "debug")
                    .run(LIMIT);
            assertTrue(
                    loud.stdout()
                            .lines()
                            .anyMatch(line -> line.matches("logging.level = \"debug\" +# checked: NEMO_RELAY_LOG")),
                    loud::toString);
            assertFalse(run(bench, 0, "config", "show").stdout().contains("default"));
            assertFalse(shown.contains("s3cret"));
            assertFalse(Files.exists(mark), "nothing of a plugin ran");

            try (Relay relay = bench.daemon();
                    McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                relay.awaitReadyWorker(mcp);
                assertTrue(Files.exists(mark), "the worker runs it");
                Await.until(
                        () -> "the worker's line and the check's\n" + list(bench, relay),
                        LIMIT,
                        () -> list(bench, relay).stream()
                                .filter(line -> line.string("kind").equals("marking"))
                                .map(line -> line.string("state") + " " + line.string("source"))
                                .toList()
                                .equals(List.of("active worker", "idle check")));
                JsonObject running = of(list(bench, relay), "marking");
                assertTrue(running.bool("planned"));
                assertFalse(running.bool("required"));
                assertTrue(run(bench, 0, "plugins", "list", "--port", "" + relay.port())
                        .stdout()
                        .lines()
                        .anyMatch(line -> line.matches("marking +1\\.0\\.0 +active +optional +running in .*")));
                whatIsInForceIsTold(bench, etc, relay, mark);
            }
        }
    }

    /** The daemon was given its port, and the worker does not take a file that is wrong. */
    private static void whatIsInForceIsTold(OneUser bench, Path etc, Relay relay, Path mark) throws Exception {
        String port = "" + relay.port();
        String own = "daemon\\.port = " + port + " +# running in daemon: --port";
        String before =
                run(bench, 0, "config", "show", "--origin", "--port", port).stdout();
        assertTrue(before.lines().anyMatch(line -> line.matches(own)), before);
        assertFalse(before.contains("running in worker"), before);
        Path plugins = etc.resolve("plugins.toml");
        String good = Files.readString(plugins);
        Files.writeString(plugins, good.replace("\"" + mark + "\"", "\"/elsewhere\"\nanother = \"x\"") + "\nwrong");
        // The command itself refuses a file that nobody can read.
        run(bench, 1, "config", "show", "--origin", "--port", port);
        Files.writeString(
                plugins,
                good.replace("\"" + mark + "\"", "\"/elsewhere\"\nanother = \"x\"")
                        + "\n[[components]]\nkind = \"nowhere\"\n");
        Await.until(
                () -> "the worker refuses it\n" + list(bench, relay),
                LIMIT,
                () -> list(bench, relay).stream()
                        .anyMatch(line -> line.string("kind").equals("nowhere")
                                && line.string("source").equals("worker")));
        String after =
                run(bench, 0, "config", "show", "--origin", "--port", port).stdout();
        assertTrue(
                after.lines().anyMatch(line -> line.matches("marking\\.file = \"/elsewhere\" +# checked: .*")), after);
        assertTrue(
                after.lines()
                        .anyMatch(line -> line.matches(
                                "marking\\.file = \"" + mark + "\" +# running in worker \\S+: " + plugins + ":\\d+:1")),
                after);
        assertTrue(
                after.lines()
                        .anyMatch(line ->
                                line.matches("# marking\\.another is not set +# running in worker \\S+: not in force")),
                after);
        assertFalse(after.contains("s3cret"));
        JsonObject json = Json.parseObject(run(bench, 0, "config", "show", "--origin", "--json", "--port", port)
                .stdout()
                .strip());
        assertTrue(json.objects("running").stream()
                .anyMatch(one ->
                        one.string("in").equals("daemon") && one.string("name").equals("daemon.port")));
        Files.writeString(plugins, good);
        Await.until(
                () -> "the file is right again",
                LIMIT,
                () -> !run(bench, 0, "config", "show", "--origin", "--port", port)
                        .stdout()
                        .contains("running in worker"));
    }

    private void severalJarsAreCheckedEachForItself(OneUser bench, Path good, Path lacking) throws Exception {
        Path empty = Files.createDirectories(folder.resolve("empty"));
        Path junk = Files.writeString(folder.resolve("junk.jar"), "no jar");
        List<String> said = run(
                        bench,
                        1,
                        "plugins",
                        "validate",
                        good.toString(),
                        junk.toString(),
                        folder + "/no.jar",
                        "" + empty)
                .stdout()
                .lines()
                .toList();
        assertEquals(4, said.size(), said::toString);
        assertEquals("there is no file " + folder.resolve("no.jar"), said.get(0));
        assertEquals("there is no jar in the folder " + empty, said.get(1));
        assertTrue(said.get(2).startsWith("ok: plugin \"marking\" 1.0.0 (" + good + ")"), said.get(2));
        assertTrue(said.get(3).startsWith("plugin file " + junk + " is not a whole jar"), said.get(3));
        // A folder stands for the jars in it.
        List<String> inside = run(bench, 1, "plugins", "validate", folder.toString())
                .stdout()
                .lines()
                .toList();
        assertEquals(2, inside.size(), inside::toString);
        assertTrue(inside.get(0).startsWith("plugin file " + junk), inside.get(0));
        assertTrue(
                inside.get(1).startsWith("plugin file " + lacking + " needs the package com.missing"), inside.get(1));
        assertTrue(run(bench, 0, "plugins", "validate", "" + good.getParent())
                .stdout()
                .lines()
                .toList()
                .getLast()
                .startsWith("valid"));
    }

    /** Each mistake that a worker would meet or leave alone, with its place, and the plugins' own keys too. */
    @Test
    void validateFindsAllThatAWorkerWouldRefuse() throws Exception {
        String components = """
                [[components]]
                kind = "tool_policy"
                reqired = true
                enabld = true
                [components.config]
                denny = ["Bash"]
                version = "1"
                surfaces = ["hook"]
                [[components.config.rules]]
                commands = ["(rm"]
                [[components]]
                kind = "pricing"
                [components.confg]
                [[componnts]]
                kind = "nope"
                """;
        try (OneUser bench = new OneUser(folder, components)) {
            Path etc = bench.executable.resolve("../../etc").normalize();
            Files.writeString(
                    etc.resolve("config.toml"),
                    Files.readString(etc.resolve("config.toml")) + "[logging]\nlevel = \"loud\"\n");
            int first = Relay.observabilityToml(folder).split("\n").length;
            String port = Integer.toString(Relay.freePort());
            Proc.Result validated = run(bench, 1, "plugins", "validate");
            assertEquals("", validated.stderr(), "nothing is said twice");
            String all = validated.stdout();
            String toml = etc.resolve("plugins.toml").toString();
            for (String expected : List.of(
                    etc.resolve("config.toml") + ":",
                    toml + ":" + (first + 3)
                            + ":1: \"reqired\" is not a known key of component \"tool_policy\"; did you mean"
                            + " \"required\"?",
                    toml + ":" + (first + 4)
                            + ":1: \"enabld\" is not a known key of component \"tool_policy\"; did you mean"
                            + " \"enabled\"?",
                    toml + ":" + (first + 6) + ":1: plugin \"tool_policy\": denny: unknown key; did you mean \"deny\"?",
                    toml + ":" + (first + 7) + ":1: plugin \"tool_policy\": version: must be the integer 1",
                    toml + ":" + (first + 8)
                            + ":1: plugin \"tool_policy\": surfaces: must be an array of hooks, responses",
                    toml + ":" + (first + 9) + ":1: plugin \"tool_policy\": rules.0.action: missing",
                    toml + ":" + (first + 10)
                            + ":1: plugin \"tool_policy\": rules.0.commands: is no regular expression",
                    toml + ":" + (first + 13)
                            + ":1: \"confg\" is not a known key of component \"pricing\"; did you mean",
                    toml + ":" + (first + 14) + ":1: \"componnts\" is not a known key; did you mean \"components\"?")) {
                assertTrue(all.contains(expected), expected + "\nnot in\n" + all);
            }
            List<JsonObject> listed = objects(run(bench, 0, "plugins", "list", "--json", "--port", port));
            assertTrue(
                    listed.stream()
                            .anyMatch(line -> line.string("file").equals(toml)
                                    && line.string("state").equals("quarantined")
                                    && line.string("reason").contains("componnts")),
                    listed::toString);
            assertEquals(
                    listed.stream()
                            .filter(line -> line.string("state").equals("quarantined")
                                    && line.string("kind").isEmpty())
                            .map(line -> line.string("reason"))
                            .toList(),
                    run(bench, 0, "plugins", "inspect", "tool_policy", "--port", port)
                            .stderr()
                            .lines()
                            .toList());
        }
    }

    /** What the standard plugins themselves would refuse, without a worker. */
    @Test
    void validateFindsWhatAPluginWouldRefuse() throws Exception {
        try (OneUser bench = new OneUser(folder, "")) {
            refused(
                    bench,
                    """
                    [[components]]
                    kind = "tool_policy"
                    [[components]]
                    kind = "pricing"
                    [[components]]
                    kind = "pii_redaction"
                    """,
                    "plugins.toml:1:1: plugin \"tool_policy\": deny: missing; one of deny, rules, default is needed",
                    "plugins.toml:3:1: plugin \"pricing\": sources: missing; it is needed",
                    "plugins.toml:5:1: plugin \"pii_redaction\": builtin: missing; one of builtin, profiles is needed");
            refused(
                    bench,
                    """
                    [[components]]
                    kind = "tool_policy"
                    [components.config]
                    surfaces = []
                    [[components.config.rules]]
                    action = "deny"
                    tools = []
                    paths = []
                    agents = []
                    [[components.config.rules]]
                    action = "deny"
                    tools = [""]
                    [[components]]
                    kind = "pricing"
                    [[components.config.sources]]
                    type = "file"
                    [[components]]
                    kind = "pii_redaction"
                    [components.config.builtin]
                    action = "redact"
                    """,
                    "plugins.toml:4:1: plugin \"tool_policy\": surfaces: is empty; name something",
                    "plugins.toml:7:1: plugin \"tool_policy\": rules.0.tools: is empty",
                    "plugins.toml:8:1: plugin \"tool_policy\": rules.0.paths: is empty",
                    "plugins.toml:9:1: plugin \"tool_policy\": rules.0.agents: is empty",
                    "plugins.toml:12:1: plugin \"tool_policy\": rules.1.tools: must be an array, each a string that is"
                            + " not empty",
                    "plugin \"pricing\": sources.0.path: missing; it is needed where type is file",
                    "plugin \"pii_redaction\": builtin.detector: missing; one of detector, pattern is needed where"
                            + " action is redact");
            refused(
                    bench,
                    """
                    [[components]]
                    kind = "tool_policy"
                    [components.config.rules]
                    action = "deny"
                    [[components]]
                    kind = "observability"
                    sha256 = "%s"
                    [[components]]
                    kind = "pii_redaction"
                    [components.config]
                    mode = "local_model"
                    [components.config.builtin]
                    action = "remove"
                    """.formatted("0".repeat(64)),
                    "plugin \"tool_policy\": rules: must be an array of tables: write [[components.config.rules]], not"
                            + " [components.config.rules]",
                    "plugins.toml:7:1: plugin \"observability\": ",
                    "plugin \"pii_redaction\": mode: must be builtin, not local_model");
        }
    }

    private static void refused(OneUser bench, String toml, String... expected) throws Exception {
        Files.writeString(bench.executable.resolve("../../etc/plugins.toml").normalize(), toml);
        String all = run(bench, 1, "plugins", "validate").stdout();
        for (String line : expected) {
            assertTrue(all.contains(line), line + "\nnot in\n" + all);
        }
    }

    @Test
    void aLineStaysOneWhateverAFileIsCalled() throws Exception {
        try (OneUser bench = new OneUser(folder, "")) {
            assertEquals(
                    "there is no file " + folder + "/two\\u000alines.jar\n",
                    run(bench, 1, "plugins", "validate", folder + "/two\nlines.jar")
                            .stdout());
        }
    }

    /** Neither has an end. */
    @Test
    void aPipeOrDeviceIsNotRead() throws Exception {
        Path pipe = folder.resolve("pipe.jar");
        assertEquals(
                0, Proc.spec().command("mkfifo", pipe.toString()).run(LIMIT).exit());
        try (OneUser bench = new OneUser(folder, "")) {
            assertEquals(
                    "plugin file " + pipe + " is not a file, put the bundle's jar in its place\n"
                            + "plugin file /dev/zero is not a file, put the bundle's jar in its place\n",
                    run(bench, 1, "plugins", "validate", pipe.toString(), "/dev/zero")
                            .stdout());
        }
    }

    private static List<JsonObject> list(OneUser bench, Relay relay) {
        return objects(run(bench, 0, "plugins", "list", "--json", "--port", "" + relay.port()));
    }

    private static JsonObject of(List<JsonObject> lines, String kind) {
        return lines.stream()
                .filter(line -> line.string("kind").equals(kind))
                .findFirst()
                .orElseThrow(() -> new AssertionError(kind + " not in " + lines));
    }

    private static List<JsonObject> objects(Proc.Result result) {
        List<JsonObject> all = new ArrayList<>();
        ((List<?>) Json.parse(result.stdout().getBytes(StandardCharsets.UTF_8)))
                .forEach(one -> all.add(JsonObject.of(one, "")));
        return all;
    }

    private static Proc.Result run(OneUser bench, int exit, String... words) {
        Proc.Result result =
                bench.user.withToken(bench.executable.toString()).command(words).run(LIMIT);
        assertEquals(exit, result.exit(), result::toString);
        return result;
    }

    /** Leaves a file where it starts. */
    public static final class Marking extends Allowing {
        public Marking(Map<String, Object> properties) throws Exception {
            Files.writeString(Path.of(PluginConfig.of(properties).string("file")), "started");
        }
    }
}
