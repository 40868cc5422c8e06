package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Requirement;

/** The disk with the user's state is full: streams go on, the next worker cannot be recorded, and the log says why. */
@Timeout(400)
class DiskFullTest {
    @TempDir
    Path folder;

    private Path home;

    @BeforeEach
    void mount() throws IOException {
        Requirement.root("to mount a small disk");
        home = Files.createDirectory(folder.resolve("home"));
        assertEquals(
                0,
                Proc.spec()
                        .command("mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", home.toString())
                        .run(Duration.ofSeconds(10))
                        .exit());
    }

    @AfterEach
    void unmount() {
        Proc.spec().command("umount", "-l", home.toString()).run(Duration.ofSeconds(10));
    }

    @Test
    void streamsGoOnAndTheReasonIsNamed() throws Exception {
        run(Maker.OURS);
    }

    /** What it says is in words of its own, so only what it does is compared. */
    @Test
    @Tag("long")
    void theStockProgramGoesOnToo() throws Exception {
        run(Maker.STOCK);
    }

    private void run(Maker maker) throws Exception {
        try (Scene scene = new Scene(folder, maker)) {
            State.READY.enter(scene);
            scene.traffic.stream("slow", 50);
            scene.traffic.awaitSubmitted("slow");
            Path fill = home.resolve("fill");
            try (OutputStream out = Files.newOutputStream(fill)) {
                while (true) {
                    out.write(new byte[4096]);
                }
            } catch (IOException full) {
                // As wanted.
            }
            scene.traffic.assertAnswered("slow", true);
            scene.kill(Victim.WORKER);
            // After the grace the next worker starts, and its generation cannot be written.
            String event = switch (maker) {
                case OURS -> "event=worker_generation_publication_failed";
                case STOCK -> "event=worker_failed";
            };
            Await.until(
                    scene::transcript,
                    Duration.ofSeconds(120),
                    () -> scene.daemonLog().contains(event));
            if (maker == Maker.OURS) {
                String line = scene.daemonLog()
                        .lines()
                        .filter(text -> text.contains(event))
                        .findFirst()
                        .orElseThrow();
                assertTrue(line.contains("No space left on device") && line.contains(home.toString()), line);
            }
            assertEquals(200, RawHttp.get(scene.port(), "/healthz").status());
            scene.traffic.stream("meanwhile", 1);
            scene.traffic.assertAnswered("meanwhile", true);
            Files.delete(fill);
            scene.assertEndsWell();
        }
    }
}
