package org.nemorelay.it.interop;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Maker;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/**
 * What a harness sees of the lifecycle client and of the hook command, and an administrator of the command line: the same
 * input to our programs and to the stock ones. Of standard error only this counts: whether there is a line for people.
 */
class ClientSurfaceTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    /** Name of a case to the reason why ours differs. */
    private static final Map<String, String> ACCEPTED = Map.of(
            "mcp repeated key", "the stock takes the last one; JSON with two meanings is refused here everywhere",
            "mcp no version", "who names no version gets the newest, as who names an unknown one (report B25)",
            "mcp no parameters", "who names no version gets the newest, as who names an unknown one (report B25)");

    @TempDir
    Path folder;

    @Test
    void theLifecycleClientAnswersAlike() {
        List<String> lines = List.of(
                "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"server/discover\",\"params\":{}}",
                initialize("0", "\"2025-11-25\""),
                initialize("1", "\"2025-06-18\""),
                initialize("2", "\"2024-11-05\""),
                initialize("3", "\"1999-01-01\""),
                initialize("4", "\"2026-07-28\""),
                initialize("5", "5"),
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nope\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\",\"params\":[1]}",
                "{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"progressToken\":0}}}",
                "{\"jsonrpc\":\"2.0\",\"id\":11,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}",
                "{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"resources/list\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":13,\"method\":\"nope\"}",
                "{nope",
                "",
                "[]",
                "[{\"jsonrpc\":\"2.0\",\"id\":14,\"method\":\"ping\"}]",
                "5",
                "\"text\"",
                "null",
                "{\"jsonrpc\":\"1.0\",\"id\":15,\"method\":\"ping\"}",
                "{\"id\":16,\"method\":\"ping\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":-17,\"method\":\"ping\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":18446744073709551615,\"method\":\"ping\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":\"\u00e4\\n\\\"\",\"method\":\"ping\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":18}",
                "{\"jsonrpc\":\"2.0\",\"id\":19,\"result\":{}}",
                "{\"jsonrpc\":\"2.0\",\"id\":20,\"method\":5}",
                "{\"jsonrpc\":\"2.0\",\"id\":21,\"method\":\"ping\"}\r");
        Comparison comparison = new Comparison(ACCEPTED);
        comparison.of("mcp all lines", maker -> mcp(maker, String.join("\n", lines) + "\n"));
        comparison.of(
                "mcp repeated key",
                maker -> mcp(maker, "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}\n"));
        comparison.of(
                "mcp no version",
                maker -> mcp(maker, "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"initialize\",\"params\":{}}\n"));
        comparison.of(
                "mcp no parameters", maker -> mcp(maker, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"initialize\"}\n"));
        comparison.of("mcp no line end", maker -> mcp(maker, lines.getFirst()));
        comparison.of("mcp nothing", maker -> mcp(maker, ""));
        comparison.of("mcp too long", maker -> mcp(maker, "x".repeat(1 << 20) + "x\n"));
        comparison.hold();
    }

    @Test
    void theHookCommandEndsAlike() {
        String dead = "http://127.0.0.1:" + Relay.freePort();
        String open = "{\"hook_event_name\":\"SessionStart\"}";
        String closed = "{\"hook_event_name\":\"PreToolUse\"}";
        Comparison comparison = new Comparison(ACCEPTED);
        try (MockProvider provider = new MockProvider();
                Relay stock = daemon(Maker.STOCK, provider);
                Relay ours = daemon(Maker.OURS, provider)) {
            for (String agent : List.of("codex", "claude", "claude-code", "pi")) {
                for (String input : List.of(open, "not json")) {
                    comparison.of(
                            "hook " + agent + " " + input,
                            maker -> hook(maker, address(maker, stock, ours), agent, input));
                }
            }
            for (String input : List.of(closed, "", "[]", "{\"type\":\"tool_call\"}")) {
                comparison.of("hook " + input, maker -> hook(maker, address(maker, stock, ours), "claude", input));
            }
            for (List<String> flag : List.of(List.<String>of(), List.of("--fail-open"), List.of("--fail-closed"))) {
                String[] flags = flag.toArray(String[]::new);
                for (String input :
                        List.of(open, closed, "", "not json", "[]", "{\"event\":5}", "{\"event\":\"user_bash\"}")) {
                    comparison.of(
                            "hook dead daemon " + flag + " " + input,
                            maker -> hook(maker, dead, "claude", input, flags));
                }
                for (String input : List.of(open, closed)) {
                    comparison.of(
                            "hook no credential " + flag + " " + input,
                            maker -> user(maker)
                                    .spec(hookCommand(maker, dead, "codex", flags))
                                    .run(input.getBytes(StandardCharsets.UTF_8), LIMIT));
                }
            }
            comparison.of(
                    "hook malformed token",
                    maker -> user(maker)
                            .spec(hookCommand(maker, dead, "pi"))
                            .env("NEMO_RELAY_CLIENT_TOKEN", "x")
                            .run(open.getBytes(StandardCharsets.UTF_8), LIMIT));
            comparison.of(
                    "hook NEMO_RELAY_FAIL_CLOSED",
                    maker -> user(maker)
                            .withToken(hookCommand(maker, dead, "pi"))
                            .env("NEMO_RELAY_FAIL_CLOSED", "1")
                            .run(open.getBytes(StandardCharsets.UTF_8), LIMIT));
            comparison.of(
                    "hook not UTF-8",
                    maker -> user(maker)
                            .withToken(hookCommand(maker, dead, "pi"))
                            .run(new byte[] {(byte) 0xff}, LIMIT));
        }
        comparison.hold();
    }

    @Test
    void wrongCommandLinesEndAlike() {
        List<List<String>> commands = new ArrayList<>(List.of(
                List.of("daemon", "--nope"),
                List.of("daemon", "nope"),
                List.of("daemon", "--pass-through", "--require-worker"),
                List.of("daemon", "--bind", "0.0.0.0"),
                List.of("daemon", "--bind", "0.0.0.0", "--advertise-address", "http://127.0.0.1:1"),
                List.of("daemon", "--bind", "0.0.0.0", "--advertise-address", "http://relay.example:1"),
                List.of("daemon", "--bind", "1.2.3.4"),
                List.of("daemon", "--bind", "localhost"),
                List.of("daemon", "--port", "0"),
                List.of("daemon", "--port", "70000"),
                List.of("daemon", "--port", "x"),
                List.of("daemon", "--port"),
                List.of("daemon", "--max-tokens-per-identity", "0"),
                List.of("daemon", "--max-tokens-per-identity", "65"),
                List.of("daemon", "mcp"),
                List.of("daemon", "worker"),
                List.of("daemon", "worker", "--daemon-address", "http://127.0.0.1:1"),
                List.of("daemon", "worker", "--daemon-address", "http://127.0.0.1:1", "--bind", "0.0.0.0"),
                List.of("daemon", "hook"),
                List.of("daemon", "hook", "nope", "--daemon-address", "http://127.0.0.1:1"),
                List.of(
                        "daemon",
                        "hook",
                        "pi",
                        "--fail-open",
                        "--fail-closed",
                        "--daemon-address",
                        "http://127.0.0.1:1")));
        for (String address : List.of(
                "",
                "nope",
                "ftp://a:1",
                "http://127.0.0.1",
                "http://127.0.0.1:99999",
                "http://user@127.0.0.1:1",
                "http://127.0.0.1:1/path",
                "http://127.0.0.1:1/?q",
                "http://127.0.0.1:1/#f",
                "https://0.0.0.0:443",
                "http://[::]:1",
                "http://relay.example:80",
                "http://[2001:db8::1]:47632")) {
            commands.add(List.of("daemon", "mcp", "--daemon-address", address));
            commands.add(List.of("daemon", "hook", "pi", "--daemon-address", address));
        }
        Comparison comparison = new Comparison(ACCEPTED);
        for (List<String> command : commands) {
            comparison.of(
                    String.join(" ", command),
                    maker -> user(maker)
                            .withToken(maker.executable().toString())
                            .command(command)
                            .run(LIMIT));
        }
        comparison.hold();
    }

    private static String initialize(String id, String version) {
        return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                + version + ",\"capabilities\":{},\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}";
    }

    private Proc.Result mcp(Maker maker, String input) {
        return user(maker)
                .spec(maker.executable().toString(), "daemon", "mcp", "--daemon-address", "http://127.0.0.1:1")
                .run(input.getBytes(StandardCharsets.UTF_8), LIMIT);
    }

    private Proc.Result hook(Maker maker, String address, String agent, String input, String... flags) {
        return user(maker)
                .withToken(hookCommand(maker, address, agent, flags))
                .run(input.getBytes(StandardCharsets.UTF_8), LIMIT);
    }

    private static String[] hookCommand(Maker maker, String address, String agent, String... flags) {
        List<String> command = new ArrayList<>(
                List.of(maker.executable().toString(), "daemon", "hook", agent, "--daemon-address", address));
        command.addAll(List.of(flags));
        return command.toArray(String[]::new);
    }

    private static String address(Maker maker, Relay stock, Relay ours) {
        return maker == Maker.STOCK ? stock.address() : ours.address();
    }

    private Relay daemon(Maker maker, MockProvider provider) {
        return Relay.start(user(maker), maker.executable(), Relay.upstream(provider));
    }

    private User user(Maker maker) {
        return User.self(folder.resolve(maker.name()));
    }
}
