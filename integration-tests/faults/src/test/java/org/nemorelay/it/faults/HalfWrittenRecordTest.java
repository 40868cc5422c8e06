package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Maker;

/** A daemon is killed while its record of a worker is half written: at the worker's publication, and at its drain. */
@Timeout(600)
class HalfWrittenRecordTest {
    private static final Duration LIMIT = Duration.ofSeconds(90);

    @TempDir
    Path folder;

    @Test
    void theNextDaemonStartsFromTheRecordBeforeOrAfter() throws Exception {
        try (Scene scene = new Scene(folder, Maker.OURS)) {
            killInAWrite(scene, scene::launchHarness);
            goesOn(scene);
        }
    }

    @Test
    @Tag("long")
    void soItDoesTimeAndAgain() throws Exception {
        try (Scene scene = new Scene(folder, Maker.OURS)) {
            for (int round = 0; round < 3; round++) {
                killInAWrite(scene, scene::launchHarness);
                scene.startDaemon();
                scene.awaitServed();
                killInAWrite(scene, scene::endHarnesses);
                scene.startDaemon();
                scene.await(Fault.Ending.NOBODY);
            }
            goesOn(scene);
        }
    }

    private void goesOn(Scene scene) throws IOException {
        if (!scene.daemon().process().alive()) {
            scene.startDaemon();
        }
        scene.awaitServed();
        assertEquals(List.of(), unfinished(scene), "nothing half written is left");
        scene.assertEndsWell();
    }

    /** Does what makes the daemon write, and kills it as soon as there is a file that will be renamed. */
    private void killInAWrite(Scene scene, Runnable cause) throws Exception {
        ProcessHandle daemon = ProcessHandle.of(scene.daemon().process().pid()).orElseThrow();
        try (WatchService watch = FileSystems.getDefault().newWatchService()) {
            state(scene).register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            CompletableFuture<Boolean> killed =
                    CompletableFuture.supplyAsync(() -> awaitWrite(watch) && daemon.destroyForcibly());
            cause.run();
            assertTrue(killed.join(), scene::transcript);
        }
        scene.daemon().process().awaitExit(LIMIT);
    }

    private static boolean awaitWrite(WatchService watch) {
        try {
            for (WatchKey key = watch.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
                    key != null;
                    key = watch.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                if (key.pollEvents().stream()
                        .anyMatch(event -> unfinished(event.context().toString()))) {
                    return true;
                }
                key.reset();
            }
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean unfinished(String name) {
        return name.startsWith(".") && name.contains("worker") && name.endsWith(".tmp");
    }

    private static Path state(Scene scene) {
        return scene.user().home().resolve(".config/nemo-relay/daemon");
    }

    private static List<String> unfinished(Scene scene) throws IOException {
        try (Stream<Path> files = Files.list(state(scene))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(HalfWrittenRecordTest::unfinished)
                    .toList();
        }
    }
}
