package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.Events;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.ToolCall;

/** A policy of the administrator's stops a tool call: the hook process blocks it in the agent's own way. */
class ToolPolicyTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String DENY_BASH = """
            [[components]]
            kind = "tool_policy"
            [components.config]
            version = 1
            deny = ["Bash"]
            """;
    private static final String REASON = "the administrator's tool policy denies the tool Bash\n";

    @TempDir
    Path folder;

    @Test
    void aListedToolIsBlockedAndAnotherIsNot() {
        try (OneUser bench = new OneUser(folder, DENY_BASH);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            for (String agent : new String[] {"claude", "codex"}) {
                assertEquals(new Proc.Result(2, "", REASON), hook(bench, relay, agent, payload("PreToolUse", "Bash")));
                assertEquals(
                        new Proc.Result(2, "", REASON),
                        hook(bench, relay, agent, payload("PreToolUse", "Bash"), "--fail-open"));
                assertEquals(
                        new Proc.Result(0, allowed(agent), ""),
                        hook(bench, relay, agent, payload("PreToolUse", "Read")));
            }
            assertEquals(
                    new Proc.Result(2, "", REASON),
                    hook(bench, relay, "pi", "{\"type\":\"tool_call\",\"toolName\":\"Bash\",\"toolCallId\":\"c\"}"));
            String decision = "\"hookSpecificOutput\":{\"decision\":{\"behavior\":\"deny\",\"message\":\""
                    + REASON.strip() + "\"},\"hookEventName\":\"PermissionRequest\"}}";
            assertEquals(
                    new Proc.Result(0, "{\"continue\":true," + decision, ""),
                    hook(bench, relay, "claude", payload("PermissionRequest", "Bash")));
            assertEquals(
                    new Proc.Result(0, "{" + decision, ""),
                    hook(bench, relay, "codex", payload("PermissionRequest", "Bash")));

            JsonObject guardrail = Events.await(bench.events, "guardrail end", Events.scope("tool_policy", "end"));
            assertEquals("guardrail", guardrail.string("category"));
            assertEquals(REASON.strip(), guardrail.object("data").string("rejection_reason"));
            JsonObject rejected = Events.await(bench.events, "rejected call", Events.scope("Bash", ""));
            assertEquals(REASON.strip(), rejected.object("data").string("rejection_reason"));
            Events.await(bench.events, "allowed call", Events.scope("Read", "start"));
            assertTrue(
                    Events.in(bench.events).stream().noneMatch(Events.scope("Bash", "start")),
                    "a call that is denied never starts");
            assertEquals(0, mcp.end());
        }
    }

    /** What a policy cannot read it cannot allow, though the harness's command says fail open. */
    @Test
    void aHookOfAWrongShapeIsBlocked() {
        String toml = DENY_BASH.replace("deny = [\"Bash\"]", "default = \"deny\"");
        try (OneUser bench = new OneUser(folder, toml);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            for (String agent : new String[] {"claude", "codex", "pi"}) {
                for (String hook : new String[] {
                    "",
                    "[]",
                    "\"PreToolUse\"",
                    "nope",
                    "{\"hook_event_name\":\"PreToolUse\"}",
                    "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":7}",
                    "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"a\",\"tool_name\":\"b\"}",
                    "{\"Hook_Event_Name\":\"PreToolUse\",\"tool_name\":\"Read\"}",
                    "[".repeat(5_000)
                }) {
                    Proc.Result result = hook(bench, relay, agent, hook, "--fail-open");
                    assertEquals(2, result.exit(), hook);
                    assertEquals("", result.stdout(), hook);
                    assertTrue(
                            result.stderr().startsWith("the policy plugin \"tool_policy\" cannot judge this hook"),
                            result.stderr());
                }
                assertEquals(
                        new Proc.Result(2, "", REASON),
                        hook(bench, relay, agent, payload("NewInLaterVersions", "Bash"), "--fail-open"));
                assertEquals(
                        new Proc.Result(0, allowed(agent), ""),
                        hook(bench, relay, agent, "{\"session_id\":\"s\",\"hook_event_name\":\"Stop\"}"));
            }
            // What the hook process itself cannot take fails closed before it is sent.
            byte[] latin = payload("PreToolUse", "R\u00e9ad").getBytes(StandardCharsets.ISO_8859_1);
            assertEquals(2, hook(bench, relay, "claude", latin).exit());
            assertEquals(0, mcp.end());
        }
    }

    @Test
    void withoutThePolicyTheSameCallPasses() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            for (String agent : new String[] {"claude", "codex"}) {
                assertEquals(
                        new Proc.Result(0, allowed(agent), ""),
                        hook(bench, relay, agent, payload("PreToolUse", "Bash")));
                for (String shape : new String[] {"[]", "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":7}"}) {
                    assertEquals(new Proc.Result(0, allowed(agent), ""), hook(bench, relay, agent, shape));
                }
            }
        }
    }

    @Test
    void aPolicyThatThrowsBlocksAndIsNamed() throws IOException {
        try (OneUser bench = new OneUser(folder, "[[components]]\nkind = \"throwing\"\n")) {
            plugin(bench.executable.resolve("../../etc/plugins").normalize());
            try (Relay relay = bench.daemon();
                    McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                relay.awaitReadyWorker(mcp);
                assertEquals(
                        new Proc.Result(2, "", "the policy plugin \"throwing\" failed, so this tool call is denied\n"),
                        hook(bench, relay, "claude", payload("PreToolUse", "Read")));
                Await.until(
                        "the worker says why\n" + mcp.process().transcript(),
                        LIMIT,
                        () -> mcp.process().stderr().contains("plugin throwing failed in decide"));
            }
        }
    }

    @Test
    void aBadConfigurationIsNamedWithItsPlaceAndNoWorkerServes() {
        String typo = DENY_BASH.replace("deny", "dney");
        try (OneUser bench = new OneUser(folder, typo);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            int line = Relay.observabilityToml(folder).split("\n").length + 5;
            String expected = "etc/plugins.toml:" + line + ":1: plugin \"tool_policy\": dney: unknown key; did you mean"
                    + " \"deny\"?";
            Await.until(
                    expected + "\nin " + mcp.process().transcript(),
                    LIMIT,
                    () -> mcp.process().stderr().contains(expected));
            assertTrue(relay.workers().stream()
                    .noneMatch(worker -> worker.string("state").equals("ready")));
        }
    }

    private static String payload(String event, String tool) {
        return "{\"session_id\":\"s-1\",\"hook_event_name\":\"" + event + "\",\"tool_name\":\"" + tool
                + "\",\"tool_input\":{\"command\":\"echo hi\"},\"tool_use_id\":\"call-" + tool + "\"}";
    }

    private static String allowed(String agent) {
        return agent.equals("claude") ? "{\"continue\":true}" : "{}";
    }

    private static Proc.Result hook(OneUser bench, Relay relay, String agent, String payload, String... more) {
        return hook(bench, relay, agent, payload.getBytes(StandardCharsets.UTF_8), more);
    }

    private static Proc.Result hook(OneUser bench, Relay relay, String agent, byte[] payload, String... more) {
        return bench.user
                .withToken(bench.executable.toString(), "daemon", "hook", agent, "--daemon-address", relay.address())
                .command(more)
                .run(payload, LIMIT);
    }

    /** A bundle with {@link Throwing}, as a build would make it. */
    private static void plugin(Path plugins) throws IOException {
        Files.createDirectories(plugins);
        Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwxr-xr-x"));
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().putValue("Manifest-Version", "1.0");
        manifest.getMainAttributes().putValue("Bundle-ManifestVersion", "2");
        manifest.getMainAttributes().putValue("Bundle-SymbolicName", "throwing");
        manifest.getMainAttributes().putValue("Import-Package", "org.nemorelay.plugin.api;version=\"[1.0,2)\"");
        manifest.getMainAttributes().putValue("Provide-Capability", "org.nemorelay.plugin;kind=throwing");
        manifest.getMainAttributes().putValue("Service-Component", "OSGI-INF/throwing.xml");
        Path jar = plugins.resolve("throwing.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            out.putNextEntry(new JarEntry("OSGI-INF/throwing.xml"));
            out.write("""
                    <scr:component xmlns:scr="http://www.osgi.org/xmlns/scr/v1.4.0" name="throwing"
                            configuration-policy="require">
                      <service><provide interface="%s"/></service>
                      <implementation class="%s"/>
                    </scr:component>
                    """.formatted(HookPolicy.class.getName(), Throwing.class.getName())
                    .getBytes(StandardCharsets.UTF_8));
            String name = Throwing.class.getName().replace('.', '/') + ".class";
            out.putNextEntry(new JarEntry(name));
            try (InputStream code = Throwing.class.getClassLoader().getResourceAsStream(name)) {
                code.transferTo(out);
            }
        }
        Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-r--r--"));
    }

    /** A policy that decides nothing. */
    public static final class Throwing implements HookPolicy {
        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            throw new IllegalStateException("on purpose");
        }
    }
}
