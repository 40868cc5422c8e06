package org.nemorelay.it.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.it.Maker;

/** A provider that thinks for an hour is waited for, before its head and within its stream, with and without a worker. */
@Tag("long")
@Timeout(4200)
class LongThoughtTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(ints = {61, 3600})
    void case35IsWaitedFor(int seconds) {
        Duration patience = Duration.ofSeconds(seconds + 120);
        try (Scene scene = new Scene(folder, Maker.OURS)) {
            List<String> ids = new ArrayList<>();
            for (String way : List.of("pass-through", "worker")) {
                if (way.equals("worker")) {
                    State.READY.enter(scene);
                }
                scene.traffic.stream(way + "-head", 2, patience, "x-thinks: " + seconds);
                scene.traffic.stream(way + "-stream", 2, patience, "x-pauses: " + seconds);
                for (String part : List.of("-head", "-stream")) {
                    scene.traffic.awaitSubmitted(way + part);
                    ids.add(way + part);
                }
            }
            for (String id : ids) {
                scene.traffic.assertAnswered(id, true, patience);
            }
            scene.assertEndsWell();
        }
    }
}
