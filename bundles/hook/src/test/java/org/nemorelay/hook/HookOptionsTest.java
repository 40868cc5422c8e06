package org.nemorelay.hook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.hook.internal.HookOptions;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.HookAgent;
import org.nemorelay.protocol.RelayException;

class HookOptionsTest {
    private static Optional<HookOptions> parse(String line) {
        return HookOptions.parse(line.split(" "));
    }

    @Test
    void optionsInAnyOrderAndBothSpellings() {
        HookOptions expected =
                new HookOptions(HookAgent.CLAUDE_CODE, DaemonUrl.parse("http://127.0.0.1:1"), Optional.of(true));
        assertEquals(
                expected,
                parse("claude --daemon-address http://127.0.0.1:1 --fail-closed")
                        .orElseThrow());
        assertEquals(
                expected,
                parse("--fail-closed --daemon-address=http://127.0.0.1:1 claude-code")
                        .orElseThrow());
        assertEquals(
                Optional.empty(),
                parse("pi --daemon-address http://127.0.0.1:1").orElseThrow().failClosed());
        assertTrue(parse("--help").isEmpty());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    claude                                                                  | the following required arguments were not provided: --daemon-address <DAEMON_ADDRESS>
                    --daemon-address http://127.0.0.1:1                                     | the following required arguments were not provided: <AGENT>
                    bad --daemon-address http://127.0.0.1:1                                 | invalid value 'bad' for '<AGENT>' [possible values: claude, codex, pi]
                    claude --daemon-address http://127.0.0.1:1 --fail-open --fail-closed    | the argument '--fail-open' cannot be used with '--fail-closed'
                    claude --daemon-address http://127.0.0.1:1 --nope                       | unexpected argument '--nope' found
                    claude codex --daemon-address http://127.0.0.1:1                        | unexpected argument 'codex' found
                    claude --daemon-address                                                 | a value is required for '--daemon-address <DAEMON_ADDRESS>' but none was supplied
                    claude --daemon-address=                                                | invalid value '' for '--daemon-address <DAEMON_ADDRESS>': daemon address must be an absolute HTTP or HTTPS URL
                    claude --daemon-address http://a:1 --daemon-address http://b:1          | the argument '--daemon-address <DAEMON_ADDRESS>' cannot be used multiple times
                    claude --daemon-address http://relay.example:80                         | invalid value 'http://relay.example:80' for '--daemon-address <DAEMON_ADDRESS>': non-loopback daemon addresses must use https
                    """)
    void wrongUsageIsNamed(String line, String message) {
        assertEquals(
                message, assertThrows(RelayException.class, () -> parse(line)).getMessage());
    }
}
