package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Maker;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Requirement;

/**
 * The clock of the daemon, or of a client and its worker, is set by a day while they run; nothing comes of it. Long because
 * a Java program starts ten times as slowly with libfaketime.
 */
@Tag("long")
@Timeout(600)
class ClockJumpTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "OURS, daemon, +86400",
        "OURS, daemon, -86400",
        "OURS, client, +86400",
        "OURS, client, -86400",
        "STOCK, daemon, +86400",
        "STOCK, daemon, -86400",
        "STOCK, client, +86400",
        "STOCK, client, -86400"
    })
    void aDayForwardOrBackChangesNothing(Maker maker, String who, String seconds) throws Exception {
        run(maker, who, seconds);
    }

    private void run(Maker maker, String who, String seconds) throws Exception {
        Path clock = Files.writeString(folder.resolve("clock"), "+0");
        Map<String, String> faked = Map.of(
                "LD_PRELOAD",
                library().toString(),
                "FAKETIME_TIMESTAMP_FILE",
                clock.toString(),
                "FAKETIME_CACHE_DURATION",
                "1",
                "DONT_FAKE_MONOTONIC",
                "1");
        boolean daemon = who.equals("daemon");
        try (Scene scene = new Scene(folder, maker, daemon ? faked : Map.of(), daemon ? Map.of() : faked)) {
            State.READY.enter(scene);
            List<Long> before = pids(scene);
            scene.stream("slow", 30);
            Files.writeString(clock, seconds);
            scene.stream("after", 1);
            // One whose challenge, registration and reference begin under the new time.
            scene.startHarness();
            scene.awaitCallers();
            assertEquals(before, pids(scene), () -> "the worker stays\n" + scene.transcript());
            scene.assertSubmittedOnce();
            scene.assertEndsWell();
        }
    }

    private static List<Long> pids(Scene scene) {
        return scene.workers().stream().map(ProcessTable.Entry::pid).sorted().toList();
    }

    private static Path library() throws IOException {
        try (Stream<Path> found = Files.find(
                Path.of("/usr/lib"), 3, (file, attributes) -> file.endsWith("faketime/libfaketimeMT.so.1"))) {
            Path library = found.findFirst().orElse(Path.of("absent"));
            Requirement.of(library.isAbsolute(), "no libfaketimeMT.so.1: install the package faketime");
            return library;
        }
    }
}
