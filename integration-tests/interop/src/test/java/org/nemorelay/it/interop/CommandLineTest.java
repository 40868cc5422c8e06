package org.nemorelay.it.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.it.Maker;
import org.nemorelay.it.Proc;
import org.nemorelay.it.User;

/**
 * Wrong command lines and environments to both programs: the same exit status, nothing on standard output, and of ours a
 * line that names what is wrong; of a command line that is not understood in the same words. Not compared: other words (no
 * program reads them), the rest of the stock program's commands.
 */
class CommandLineTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String HOOK = "daemon hook claude --daemon-address ";
    private static final String WORKER = "daemon worker --daemon-address http://127.0.0.1:1";

    @TempDir
    Path folder;

    @SuppressWarnings("unused") // FieldSource
    static final List<String> WRONG = Stream.concat(
                    Stream.of(
                            "daemon --nope",
                            "nope",
                            "daemon nope",
                            "daemon token",
                            "daemon mcp",
                            "daemon mcp --daemon-address http://127.0.0.1",
                            "daemon mcp --daemon-address http://127.0.0.1:1 --port 3",
                            "daemon --port 18155 mcp --daemon-address http://127.0.0.1:1",
                            "daemon hook claude",
                            "daemon hook --daemon-address http://127.0.0.1:1",
                            "daemon hook bad --daemon-address http://127.0.0.1:1",
                            HOOK + "http://127.0.0.1:1 --fail-open --fail-closed",
                            "daemon worker",
                            "daemon worker --daemon-address http://127.0.0.1",
                            WORKER + " --port 0",
                            WORKER + " --bind 1.2.3.4",
                            WORKER + " --bind 0.0.0.0",
                            WORKER,
                            "daemon --pass-through --require-worker",
                            "daemon --bind 0.0.0.0 --port 18155",
                            "daemon --bind 0.0.0.0 --port 18155 --advertise-address http://127.0.0.1:18155",
                            "daemon --bind 0.0.0.0 --port 18155 --advertise-address http://relay.example:18155",
                            "daemon --bind 0.0.0.0 --port 18155 --advertise-address https://relay.example",
                            "daemon --tls-cert /nowhere/cert.pem --port 18155",
                            "daemon --tls-key /nowhere/key.pem --port 18155",
                            "daemon --tls-cert /nowhere/cert.pem --tls-key /nowhere/key.pem --port 18155",
                            "daemon --tls-cert /tmp --tls-key /tmp --port 18155",
                            "daemon --tls-cert a --tls-key b --advertise-address http://127.0.0.1:18155 --port 18155",
                            "daemon --bind 1.2.3.4",
                            "daemon --bind localhost",
                            "daemon --bind ::1",
                            "daemon --port 0",
                            "daemon --port 70000",
                            "daemon --port x",
                            "daemon --max-tokens-per-identity 0",
                            "daemon --max-tokens-per-identity 65",
                            "daemon --log-level info --port 0",
                            "--log-level nope daemon",
                            "--log-stderr-format nope daemon",
                            "--max-hook-payload-bytes x daemon",
                            "--config /nowhere/config.toml daemon --port 18155",
                            "NEMO_RELAY_DAEMON_MAX_TOKENS_PER_IDENTITY=x daemon --port 18155",
                            "NEMO_RELAY_DAEMON_MAX_TOKENS_PER_IDENTITY= daemon --port 18155",
                            "NEMO_RELAY_LOG=nope daemon --port 18155",
                            "NEMO_RELAY_LOG_STDERR_FORMAT=nope daemon --port 18155",
                            "NEMO_RELAY_OPENAI_BASE_URL=nope daemon --port 18155",
                            "NEMO_RELAY_ANTHROPIC_BASE_URL=http://10.0.0.1:80 daemon --port 18155",
                            "--openai-base-url http://provider.example/v1 daemon --port 18155",
                            "--log-config-path x.toml daemon --port 18155",
                            "--log-config-path /nowhere.toml daemon --port 18155",
                            "--log-config-path /x.toml --log-level info daemon --port 18155",
                            "NEMO_RELAY_LOG= daemon --port 18155",
                            "NEMO_RELAY_LOG_STDERR=nope daemon --port 18155",
                            "NEMO_RELAY_LOG_CONFIG_PATH=/nowhere.toml daemon --port 18155",
                            "help nope",
                            "NEMO_RELAY_LOG=nope daemon mcp --daemon-address http://127.0.0.1:1"),
                    Stream.of(
                                    "",
                                    "nope",
                                    "ftp://a:1",
                                    "http://127.0.0.1",
                                    "http://u@127.0.0.1:1",
                                    "http://127.0.0.1:1/path",
                                    "http://127.0.0.1:1?q",
                                    "http://127.0.0.1:1#f",
                                    "http://127.0.0.1:99999",
                                    "http://127.0.0.1:0",
                                    "https://0.0.0.0:443",
                                    "http://[::]:1",
                                    "http://relay.example:80",
                                    "http://[2001:db8::1]:47632",
                                    "http://[::1]:1",
                                    "http://LOCALHOST:1/",
                                    "http://127.1:1")
                            .map(address -> HOOK + "'" + address + "'"))
            .toList();

    /** Where ours says more than the stock program, or prints its help. */
    private static final Set<String> OTHER_WORDS = Set.of(
            "daemon token", // help, each its own
            "daemon --log-level info --port 0", // where the option belongs, too
            "--max-hook-payload-bytes x daemon", // what a limit is, in place of "invalid digit"
            HOOK + "'http://127.0.0.1:99999'", // that the port is none, not that there is none
            HOOK + "'http://[::]:1'"); // the address that was given, not 0.0.0.0

    @ParameterizedTest
    @FieldSource("WRONG")
    void theSameStatusAndOneClearLine(String line) {
        Proc.Result stock = run(Maker.STOCK, line);
        Proc.Result ours = run(Maker.OURS, line);
        assertEquals(stock.exit(), ours.exit(), stock + "\n" + ours);
        assertTrue(ours.exit() == 1 || ours.exit() == 2, ours.toString());
        assertEquals("", ours.stdout());
        assertFalse(ours.stderr().isBlank());
        assertFalse(ours.stderr().contains("\tat "), ours.stderr());
        // A hook that fails closed has this status too.
        if (stock.stderr().startsWith("error: ") && !OTHER_WORDS.contains(line)) {
            assertEquals(problem(stock), problem(ours));
        }
    }

    /** The words above the usage; the stock program may have lists in them, one item a line. */
    private static String problem(Proc.Result result) {
        return result.stderr().split("\n\n", 2)[0].replaceAll("\\s+", " ").strip();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "-h",
                "help",
                "--version",
                "-V",
                "daemon --help",
                "daemon help",
                "daemon help mcp",
                "daemon mcp --help",
                "daemon hook -h",
                "daemon worker --help",
                "daemon token --help",
                "daemon token ensure --help",
                "completions bash"
            })
    void whatIsAskedForGoesToStandardOutput(String line) {
        for (Maker maker : Maker.values()) {
            Proc.Result result = run(maker, line);
            assertEquals(0, result.exit(), maker + " " + result);
            assertEquals("", result.stderr());
            assertFalse(result.stdout().isBlank());
        }
    }

    /** @param line as in a shell, variables first */
    private Proc.Result run(Maker maker, String line) {
        int command = line.startsWith("NEMO_") ? line.indexOf(' ') + 1 : 0;
        return User.self(folder.resolve(maker.name()))
                .spec(
                        "/bin/sh",
                        "-c",
                        line.substring(0, command) + '"' + maker.executable() + "\" " + line.substring(command))
                .run(LIMIT);
    }
}
