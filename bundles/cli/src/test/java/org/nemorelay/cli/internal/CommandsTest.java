package org.nemorelay.cli.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommandsTest {
    private static Commands.Parsed parse(String line) {
        return new Commands().parse(line.isEmpty() ? new String[0] : line.split(" "));
    }

    private static Commands.Run run(String path, Map<String, String> flags, String... rest) {
        return new Commands.Run(path, flags, List.of(rest));
    }

    @Test
    void optionsOfTheWholeAndOfTheDaemonMeetInOneMap() {
        assertEquals(
                run("daemon", Map.of("config", "a b", "port", "81", "bind", "0.0.0.0", "pass-through", "true")),
                new Commands().parse("--config", "a b", "daemon", "--port", "081", "--bind=0.0.0.0", "--pass-through"));
        assertEquals(run("", Map.of()), parse(""));
        assertEquals(run("daemon token", Map.of()), parse("daemon token"));
        assertEquals(run("daemon token ensure", Map.of("json", "true")), parse("daemon token ensure --json"));
        assertEquals(run("status", Map.of("port", "1")), parse("status --port 1"));
        assertEquals(
                run("daemon worker", Map.of("daemon-address", "http://127.0.0.1:1")),
                parse("daemon worker --daemon-address http://127.0.0.1:1/"));
    }

    @Test
    void hooksAndSessionsReadTheirOwnArguments() {
        assertEquals(
                run(
                        "daemon hook",
                        Map.of("log-level", "info"),
                        "claude",
                        "--daemon-address",
                        "x",
                        "--fail-open",
                        "--help"),
                parse("--log-level info daemon hook claude --daemon-address x --fail-open --help"));
        assertEquals(run("daemon mcp", Map.of(), "--daemon-address", "x"), parse("daemon mcp --daemon-address x"));
    }

    @Test
    void helpIsACommandToo() {
        assertEquals(parse("--help"), parse("help"));
        assertEquals(parse("daemon worker --help"), parse("daemon help worker"));
        assertEquals(parse("daemon token ensure --help"), parse("help daemon token ensure"));
        assertEquals(run("daemon hook", Map.of(), "--help"), parse("help daemon hook"));
        assertEquals(run("completion", Map.of(), "zsh"), parse("completions zsh"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    nope                                                   | unrecognized subcommand 'nope'
                    daemon nope                                            | unrecognized subcommand 'nope'
                    daemon token nope                                      | unrecognized subcommand 'nope'
                    demo nope                                              | unrecognized subcommand 'nope'
                    status nope                                            | unexpected argument 'nope' found
                    @/etc/passwd                                           | unrecognized subcommand '@/etc/passwd'
                    help nope                                              | unrecognized subcommand 'nope'
                    daemon help token nope                                 | unrecognized subcommand 'nope'
                    daemon --nope                                          | unexpected argument '--nope' found
                    daemon --log-level info                                | unexpected argument '--log-level' found: it stands before the command, as in 'nemo-relay --log-level <LEVEL> daemon'
                    daemon --pass-through=false                            | unexpected value 'false' for '--pass-through' found; no more were expected
                    status --json=x                                        | unexpected value 'x' for '--json' found; no more were expected
                    daemon --bind 1.2.3.4                                  | invalid value '1.2.3.4' for '--bind <BIND>': bind address must be 127.0.0.1 or 0.0.0.0
                    daemon --bind localhost                                | invalid value 'localhost' for '--bind <BIND>': bind address must be 127.0.0.1 or 0.0.0.0
                    daemon --port 0                                        | invalid value '0' for '--port <PORT>': an explicitly supplied port must be between 1 and 65535
                    daemon --port 70000                                    | invalid value '70000' for '--port <PORT>': port must be between 1 and 65535
                    daemon --port x                                        | invalid value 'x' for '--port <PORT>': port must be between 1 and 65535
                    daemon --port                                          | a value is required for '--port <PORT>' but none was supplied
                    daemon --port 1 --port 2                               | the argument '--port <PORT>' cannot be used multiple times
                    daemon --max-tokens-per-identity 65                    | invalid value '65' for '--max-tokens-per-identity <MAX_TOKENS_PER_IDENTITY>': the per-identity token limit must be an integer from 1 through 64
                    daemon --pass-through --require-worker                 | the argument '--pass-through' cannot be used with '--require-worker'
                    daemon --port 1 mcp --daemon-address x                 | the subcommand 'mcp' cannot be used with '--port <PORT>'
                    daemon worker                                          | the following required arguments were not provided: --daemon-address <DAEMON_ADDRESS>
                    daemon worker --daemon-address                         | a value is required for '--daemon-address <DAEMON_ADDRESS>' but none was supplied
                    daemon worker --daemon-address http://127.0.0.1        | invalid value 'http://127.0.0.1' for '--daemon-address <DAEMON_ADDRESS>': daemon address must include an explicit port
                    daemon worker --daemon-address http://relay.example:80 | invalid value 'http://relay.example:80' for '--daemon-address <DAEMON_ADDRESS>': non-loopback daemon addresses must use https
                    --log-level loud daemon                                | invalid value 'loud' for '--log-level <LEVEL>' [possible values: error, warn, info, debug, trace]
                    daemon --tls-cert a                                    | the following required arguments were not provided: --tls-key <TLS_KEY>
                    daemon --tls-key b                                     | the following required arguments were not provided: --tls-cert <TLS_CERT>
                    --log-config-path /x.toml --log-level info daemon      | the argument '--log-config-path <CONFIG_PATH>' cannot be used with '--log-level <LEVEL>'
                    completion                                             | the following required arguments were not provided: <SHELL>
                    completion tcsh                                        | invalid value 'tcsh' for '<SHELL>' [possible values: bash, zsh, fish]
                    --max-hook-payload-bytes 0 daemon                      | invalid value '0' for '--max-hook-payload-bytes <MAX_HOOK_PAYLOAD_BYTES>': the limit must be a positive integer
                    """)
    void wrongUsageIsOneClearLine(String line, String message) {
        assertEquals(message, ((Commands.Wrong) parse(line)).problem());
    }

    /** The lines that stand below the problem, as the stock program has them. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    nope                    | Usage: nemo-relay [OPTIONS] <COMMAND>
                    daemon nope             | Usage: nemo-relay daemon [OPTIONS];       nemo-relay daemon <COMMAND>
                    daemon --nope           | Usage: nemo-relay daemon [OPTIONS];       nemo-relay daemon <COMMAND>
                    daemon token nope       | Usage: nemo-relay daemon token <COMMAND>
                    daemon token ensure -x  | Usage: nemo-relay daemon token ensure [OPTIONS]
                    daemon worker           | Usage: nemo-relay daemon worker [OPTIONS] --daemon-address <DAEMON_ADDRESS>
                    plugins inspect         | Usage: nemo-relay plugins inspect [OPTIONS] <KIND>
                    plugins validate --x    | Usage: nemo-relay plugins validate [OPTIONS] [JAR]...
                    node x                  | Usage: nemo-relay node
                    """)
    void howTheCommandIsCalledStandsBelow(String line, String usage) {
        assertEquals(usage.replace(";", "\n"), ((Commands.Wrong) parse(line)).usage());
        if (!line.equals("nope")) {
            String help = ((Commands.Help) parse(line.split(" -| x| nope")[0] + " --help")).text();
            assertTrue(help.contains(usage.replace(";", "\n")), help);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"frontend", "node", "agent-worker"})
    void aRoleOfAFleetTellsWhereItsSettingsAre(String role) {
        String help = ((Commands.Help) parse(role + " --help")).text();
        assertTrue(help.contains("[distributed] and [" + role.replace('-', '_') + "] of config.toml"), help);
        assertTrue(help.contains("nemo-relay --config fleet.toml " + role), help);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "-h",
                "daemon --help",
                "daemon worker --help",
                "daemon token ensure --help",
                "status -h",
                "demo -h"
            })
    void everyCommandHasHelpOfAReadableWidth(String line) {
        String text = ((Commands.Help) parse(line)).text();
        assertTrue(text.contains("Usage: nemo-relay") && text.contains("-h, --help"), text);
        text.lines().forEach(row -> assertTrue(row.length() <= 120, row));
    }
}
