package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.User;
import org.nemorelay.json.Json;

/** Logging options of the whole program reach its small companions, before the environment. */
class LoggingOptionsTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --log-level warn --log-stderr-format=jsonl daemon mcp  | 0 | daemon_mcp_pass_through
                    --log-level error --log-stderr-format=jsonl daemon mcp | 0 | ''
                    --log-stderr-format jsonl daemon hook codex            | 2 | hook_failed daemon_hook_delivery_failed command_failed
                    """)
    void beforeTheCommand(String options, int exit, String events) {
        List<String> command = new ArrayList<>(
                List.of(Distribution.tree().resolve("bin/nemo-relay").toString()));
        command.addAll(Arrays.asList(options.split(" ")));
        command.addAll(List.of("--daemon-address", "http://127.0.0.1:1"));
        Proc.Result result = User.self(folder)
                .spec(command.toArray(String[]::new))
                .env("NEMO_RELAY_LOG", "trace")
                .env("NEMO_RELAY_LOG_STDERR_FORMAT", "human")
                .run(Duration.ofSeconds(20));
        assertEquals(exit, result.exit(), result.toString());
        assertEquals(
                events,
                String.join(
                        " ",
                        result.stderr()
                                .lines()
                                .filter(line -> line.startsWith("{"))
                                .map(line -> Json.parseObject(line).string("event"))
                                .toList()),
                result.toString());
    }
}
