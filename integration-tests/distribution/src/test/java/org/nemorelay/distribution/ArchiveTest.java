package org.nemorelay.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;

class ArchiveTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    /** With {@code -XX:AOTMode=on} a Java that cannot use its cache does not start; a demo starts every role. */
    @Test
    void unpackedElsewhereEveryRoleStartsWithItsCache() throws Exception {
        Path archive;
        try (Stream<Path> files = Files.list(Distribution.tree().resolveSibling("."))) {
            archive = files.filter(file -> file.toString().endsWith(".tar.gz"))
                    .findFirst()
                    .orElseThrow();
        }
        Path place = Files.createDirectories(folder.resolve("another place"));
        assertEquals(
                0,
                Proc.spec()
                        .command("/bin/tar", "-xzf", archive.toRealPath().toString(), "-C", place.toString())
                        .env("PATH", "/usr/bin:/bin")
                        .run(LIMIT)
                        .exit());
        Path tree;
        try (Stream<Path> unpacked = Files.list(place)) {
            tree = unpacked.findFirst().orElseThrow();
        }
        Path script = tree.resolve("bin/nemo-relay");
        Path roles = folder.resolve("roles");
        Files.writeString(
                script,
                Files.readString(script)
                        .replace("\"-XX:AOTCache=$cache\"", "-XX:AOTMode=on \"-XX:AOTCache=$cache\"")
                        .replace("\nexec ", "\necho $role >> '" + roles + "'\nexec "));
        Proc.Result demo = Proc.spec()
                .command(script.toString(), "demo")
                .env("HOME", folder.toString())
                .run(LIMIT);
        assertEquals(0, demo.exit(), demo.stdout() + demo.stderr());
        assertEquals(
                new TreeSet<>(List.of("cli", "daemon", "hook", "mcp", "worker")),
                new TreeSet<>(Files.readAllLines(roles)));
    }
}
