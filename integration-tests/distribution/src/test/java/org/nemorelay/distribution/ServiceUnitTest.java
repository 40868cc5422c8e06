package org.nemorelay.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Requirement;

/** What systemd says of the shipped units. */
class ServiceUnitTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Path SHIPPED = Distribution.tree().resolve("share/systemd");

    @TempDir
    Path folder;

    @BeforeEach
    void systemd() {
        Requirement.of(
                Files.isExecutable(Path.of("/usr/bin/systemd-analyze")), "needs systemd-analyze (package systemd)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"system", "user"})
    void theUnitsAreValid(String instance) throws Exception {
        assertEquals(
                "",
                analyze("verify", "--" + instance, "--man=no", unit(instance).toString()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"frontend", "node", "agent-worker"})
    void theUnitsOfAFleetAreValidAndConfined(String role) throws Exception {
        String unit = unit("system", role).toString();
        assertEquals("", analyze("verify", "--system", "--man=no", unit));
        analyze("security", "--offline=true", "--no-pager", "--threshold=20", unit);
    }

    /** A daemon that this account runs already, and one that cannot start, are not tried for ever (report B42). */
    @ParameterizedTest
    @ValueSource(strings = {"system", "user"})
    void aSecondDaemonIsNotTriedAgain(String instance) throws Exception {
        List<String> lines = Files.readAllLines(unit(instance));
        for (String line : List.of(
                "Restart=on-failure", "RestartPreventExitStatus=3", "StartLimitIntervalSec=60", "StartLimitBurst=5")) {
            assertTrue(lines.contains(line), line);
        }
    }

    /** Exposure in tenths, of 100. */
    @Test
    void theServiceIsConfined() throws Exception {
        analyze(
                "security",
                "--offline=true",
                "--no-pager",
                "--threshold=20",
                unit("system").toString());
    }

    @Test
    void theAccountIsWellFormed() {
        Path sysusers = Path.of("/usr/bin/systemd-sysusers");
        Requirement.of(Files.isExecutable(sysusers), "needs systemd-sysusers (package systemd)");
        run(
                sysusers.toString(),
                "--dry-run",
                SHIPPED.resolve("sysusers.d/nemo-relay.conf").toString());
    }

    /** With the command where it is here: systemd looks for it. */
    private Path unit(String instance) throws Exception {
        return unit(instance, "daemon");
    }

    private Path unit(String instance, String role) throws Exception {
        String name = "nemo-relay-" + role + ".service";
        Path shipped = SHIPPED.resolve(instance).resolve(name);
        return Files.writeString(
                folder.resolve(name),
                Files.readString(shipped)
                        .replace(
                                "ExecStart=/usr/local/bin/nemo-relay ",
                                "ExecStart=" + Distribution.tree().resolve("bin/nemo-relay") + " "));
    }

    private String analyze(String... arguments) {
        String[] command = new String[arguments.length + 1];
        command[0] = "/usr/bin/systemd-analyze";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        return run(command);
    }

    private String run(String... command) {
        Proc.Result result = Proc.spec()
                .command(command)
                .env("HOME", folder.toString())
                .env("XDG_RUNTIME_DIR", folder.toString())
                .run(LIMIT);
        assertEquals(0, result.exit(), result.toString());
        return result.stderr();
    }
}
