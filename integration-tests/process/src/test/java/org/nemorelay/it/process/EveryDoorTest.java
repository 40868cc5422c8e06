package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.User;

/**
 * Whatever a command cannot do, it says in one line beside those of its log: what, where, and what can be done; without
 * names of Java's classes, without a stack trace, and with the documented exit status.
 */
class EveryDoorTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String NOBODY = "http://127.0.0.1:1";

    private Path folder;
    private User user;
    private String executable;

    @BeforeEach
    void somebodyWithoutPrivileges() throws IOException {
        folder = Files.createTempDirectory("nemo-relay-doors");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        user = "root".equals(System.getProperty("user.name"))
                ? User.other(folder.resolve("home"), 61003)
                : User.self(folder.resolve("home"));
        executable = Distribution.privateTree(folder.resolve("tree"), "", "")
                .resolve("bin/nemo-relay")
                .toString();
    }

    @AfterEach
    void remove() throws IOException, InterruptedException {
        new ProcessBuilder("chmod", "-R", "u+rwx", folder.toString()).start().waitFor();
        new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor();
    }

    private Proc.Spec command(String line) {
        return user.spec(
                Stream.concat(Stream.of(executable), Stream.of(line.split(" "))).toArray(String[]::new));
    }

    /** A door that stays shut: exit status 1 and one line with these words. */
    private Executable shut(String line, String... words) {
        return shut(command(line), line, words);
    }

    private static Executable shut(Proc.Spec spec, String line, String... words) {
        return () -> {
            Proc.Result result = spec.run(new byte[0], LIMIT);
            assertEquals(1, result.exit(), line + ": " + result.stderr());
            assertEquals("", result.stdout(), line);
            List<String> said = beside(result.stderr());
            assertEquals(1, said.size(), line + ": " + result.stderr());
            clean(line, result.stderr());
            for (String word : words) {
                assertTrue(said.getFirst().contains(word), line + ": '" + word + "' is not in: " + said);
            }
        };
    }

    /** What was said beside the lines of the log. */
    private static List<String> beside(String stderr) {
        return stderr.lines()
                .filter(line -> !line.matches("\\d{4}-.* (ERROR|INFO) root=.*"))
                .toList();
    }

    private static void clean(String line, String text) {
        for (String trace : new String[] {"Exception", "java.", "null", "\tat ", "WARNING"}) {
            assertFalse(text.contains(trace), line + ": " + text);
        }
    }

    @Test
    void whatTheAccountMayNotDo() throws IOException {
        Path config = Files.createDirectory(user.home().resolve(".config"));
        Files.setPosixFilePermissions(config, PosixFilePermissions.fromString("r-xr-xr-x"));
        String remedy = "permission denied at " + config.resolve("nemo-relay") + "; give this account access there";
        assertAll(
                shut("daemon token ensure", ".client-token cannot be created", remedy),
                shut("daemon tls-certificate", remedy),
                shut("daemon --port 18099", "state error: ", remedy),
                shut(
                        command("--config /dev/null daemon --port 18099").env("TMPDIR", config.toString()),
                        "daemon without a temporary folder",
                        "no private folder can be made in " + config + " (permission denied)"));
        // At the end of its input it would have nothing left to fail at.
        try (Proc mcp = command("daemon mcp --daemon-address " + NOBODY)
                .env("NEMO_RELAY_CLIENT_TOKEN", user.token())
                .start()) {
            assertEquals(1, mcp.awaitExit(LIMIT), mcp.stderr());
            assertTrue(mcp.stderr().contains(remedy), mcp.stderr());
            assertEquals(1, beside(mcp.stderr()).size(), mcp.stderr());
            clean("daemon mcp", mcp.stderr());
        }
    }

    @Test
    void filesThatCannotBeRead() throws IOException {
        Path closed = Files.createFile(folder.resolve("closed.toml"));
        Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("---------"));
        Path binary = Files.write(folder.resolve("binary.toml"), new byte[] {(byte) 0xff, (byte) 0xfe});
        assertAll(
                shut("--config " + closed + " daemon", closed + " cannot be read: permission denied"),
                shut("--config " + folder + " daemon", folder + " cannot be read: Is a directory"),
                shut("--config " + binary + " frontend", binary + " is not UTF-8 text"),
                shut("--config /nope.toml node", "--config: there is no file /nope.toml"),
                shut("--log-config-path " + closed + " config show", closed + " cannot be read: permission denied"),
                shut(
                        command("--config /dev/null daemon --port 18099").env("NEMO_RELAY_TEST_TIME_SCALE", ""),
                        "daemon with an empty time scale",
                        "NEMO_RELAY_TEST_TIME_SCALE must be a number from 1 to 1000; unset it outside of tests"),
                shut("--config /dev/null daemon --tls-cert " + closed + " --tls-key " + closed, closed.toString()));
        // One of several findings, so it stands among them.
        Path none = folder.resolve("none.jar");
        Proc.Result validated = command("plugins validate " + none).run(new byte[0], LIMIT);
        assertEquals(1, validated.exit(), validated.stderr());
        assertEquals("there is no file " + none + "\n", validated.stdout());
        assertEquals("", validated.stderr());
    }

    /** A usage error is one line too; how the command is called stands below. */
    @Test
    void whatIsTypedWrong() {
        for (String line : List.of(
                "nope",
                "daemon --port x",
                "daemon hook claude --daemon-address nope",
                "daemon mcp --daemon-address nope",
                "daemon worker --daemon-address nope",
                "agent-worker --nope")) {
            Proc.Result result = command(line).run(new byte[0], LIMIT);
            assertEquals(2, result.exit(), line + ": " + result.stderr());
            clean(line, result.stderr());
            List<String> said = result.stderr().lines().toList();
            assertTrue(said.getFirst().startsWith("error: "), line + ": " + result.stderr());
            assertEquals("", said.get(1), line);
            assertTrue(said.get(2).startsWith("Usage: nemo-relay"), line + ": " + result.stderr());
            assertEquals("For more information, try '--help'.", said.getLast(), line);
        }
    }

    @Test
    void theLogNamesTheCommandThatFailed() {
        Proc.Result result = command("--config /dev/null node").run(new byte[0], LIMIT);
        assertEquals(1, result.exit(), result.stderr());
        assertTrue(
                result.stderr().contains(" event=command_failed command=node error_kind=configuration "),
                result.stderr());
    }

    @Test
    void standardOutputThatTakesNothing() {
        Proc.Result result =
                user.spec("sh", "-c", executable + " --version > /dev/full").run(new byte[0], LIMIT);
        assertEquals(1, result.exit());
        assertEquals("error: standard output cannot be written\n", result.stderr());
    }

    @Test
    void whoIsNotThere() {
        assertAll(
                shut("status --port 1", "no daemon answers at http://127.0.0.1:1; start one with `nemo-relay daemon`"),
                shut("carriers list", "no frontend, node or agent-worker of this user runs here"),
                shut("plugins inspect nope", "no plugin of the kind \"nope\""),
                shut("daemon worker --daemon-address " + NOBODY, "grant on standard input"));
    }
}
