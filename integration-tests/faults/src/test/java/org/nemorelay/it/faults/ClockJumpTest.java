package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Requirement;

/** The clock of a process is set by an hour while it runs; nothing comes of it. */
@Timeout(600)
class ClockJumpTest {
    private static final String HOUR = "+3600";
    private static final String HOUR_BACK = "-3600";

    @TempDir
    Path folder;

    private Path library;

    @BeforeEach
    void findLibrary() throws IOException {
        try (Stream<Path> found = Files.find(
                Path.of("/usr/lib"), 3, (file, attributes) -> file.endsWith("faketime/libfaketimeMT.so.1"))) {
            library = found.findFirst().orElse(Path.of("absent"));
            Requirement.of(library.isAbsolute(), "no libfaketimeMT.so.1: install the package faketime");
        }
    }

    /** Each of our processes has a clock of its own, and the three drift apart by two hours, one way and the other. */
    @Test
    void clocksThatJumpApartChangeNothing() throws Exception {
        try (Scene scene = scene(Maker.OURS)) {
            State.READY.enter(scene);
            assertNothingComesOf(
                    Maker.OURS,
                    scene,
                    "first",
                    Map.of(Clock.DAEMON, HOUR, Clock.CLIENT, HOUR_BACK, Clock.WORKER, HOUR_BACK));
            assertNothingComesOf(
                    Maker.OURS,
                    scene,
                    "second",
                    Map.of(Clock.DAEMON, HOUR_BACK, Clock.CLIENT, HOUR, Clock.WORKER, HOUR));
            scene.assertEndsWell();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "OURS, DAEMON, +3600",
        "OURS, DAEMON, -3600",
        "OURS, CLIENT, +3600",
        "OURS, CLIENT, -3600",
        "OURS, WORKER, +3600",
        "OURS, WORKER, -3600",
        // Its worker starts with the client's environment, and so with its clock.
        "STOCK, DAEMON, +3600",
        "STOCK, DAEMON, -3600",
        "STOCK, CLIENT, +3600",
        "STOCK, CLIENT, -3600"
    })
    @Tag("long")
    void oneClockThatJumpsChangesNothing(Maker maker, Clock clock, String offset) throws Exception {
        try (Scene scene = scene(maker)) {
            State.READY.enter(scene);
            assertNothingComesOf(maker, scene, "one", Map.of(clock, offset));
            scene.assertEndsWell();
        }
    }

    /** Every clock is set in each state, which goes on as if nothing had been. */
    @ParameterizedTest
    @MethodSource
    @Tag("long")
    void clocksThatJumpInAnyStateChangeNothing(State state, String offset) throws Exception {
        try (Scene scene = scene(Maker.OURS)) {
            state.enter(scene);
            scene.traffic.stream("slow", 30);
            scene.traffic.awaitSubmitted("slow");
            scene.remember();
            for (Clock clock : Clock.values()) {
                Files.writeString(clock.file(folder), offset);
            }
            awaitClock(scene.port(), offset);
            scene.traffic.stream("after", 1);
            scene.letGo();
            scene.await(new Fault(Maker.OURS, state, EnumSet.of(Victim.PROVIDER), Fault.Next.LATER).ending());
            scene.traffic.assertAnswered("slow", true);
            scene.traffic.assertAnswered("after", true);
            scene.assertEndsWell();
        }
    }

    static Stream<Arguments> clocksThatJumpInAnyStateChangeNothing() {
        return Stream.of(State.values())
                .flatMap(state -> Stream.of(HOUR, HOUR_BACK).map(offset -> Arguments.of(state, offset)));
    }

    /** The grace of 30 s is neither over at once nor an hour later. */
    @ParameterizedTest
    @ValueSource(strings = {HOUR, HOUR_BACK})
    @Tag("long")
    void aGraceIsNotMeasuredByTheClock(String offset) throws Exception {
        try (Scene scene = scene(Maker.OURS)) {
            State.READY.enter(scene);
            long begun = System.nanoTime();
            scene.kill(Victim.MCP);
            Await.until(
                    scene::transcript, Scene.LIMIT, () -> scene.daemonLog().contains("event=mcp_control_disconnected"));
            Files.writeString(Clock.DAEMON.file(folder), offset);
            scene.await(Fault.Ending.NOBODY);
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            assertTrue(took.toSeconds() >= 30, () -> "it was over after " + took + "\n" + scene.transcript());
            scene.mend();
            scene.assertEndsWell();
        }
    }

    /** Whose clock it is; each is a file with an offset to the machine's. */
    enum Clock {
        DAEMON,
        CLIENT,
        WORKER;

        Path file(Path folder) {
            return folder.resolve(name().toLowerCase(java.util.Locale.ROOT) + ".clock");
        }

        Map<String, String> environment(Path folder, Path library) {
            return Map.of(
                    "LD_PRELOAD",
                    library.toString(),
                    "FAKETIME_TIMESTAMP_FILE",
                    file(folder).toString(),
                    "FAKETIME_NO_CACHE",
                    "1",
                    "DONT_FAKE_MONOTONIC",
                    "1",
                    // Otherwise every timed wait of a Java program returns at once.
                    "FAKETIME_FORCE_MONOTONIC_FIX",
                    "0");
        }
    }

    private Scene scene(Maker maker) throws IOException {
        for (Clock clock : Clock.values()) {
            Files.writeString(clock.file(folder), "+0");
        }
        Scene scene = new Scene(
                folder, maker, Clock.DAEMON.environment(folder, library), Clock.CLIENT.environment(folder, library));
        if (maker == Maker.OURS) {
            scene.workersEnvironment(Clock.WORKER.environment(folder, library));
        }
        return scene;
    }

    private void assertNothingComesOf(Maker maker, Scene scene, String name, Map<Clock, String> jumps)
            throws IOException {
        scene.remember();
        scene.traffic.stream("slow-" + name, 50);
        scene.traffic.awaitSubmitted("slow-" + name);
        for (Map.Entry<Clock, String> jump : jumps.entrySet()) {
            Files.writeString(jump.getKey().file(folder), jump.getValue());
        }
        // The stock program keeps the date of its answers for a second of its own clock, so for more than an hour.
        if (maker == Maker.OURS && jumps.containsKey(Clock.DAEMON)) {
            awaitClock(scene.port(), jumps.get(Clock.DAEMON));
        }
        if (jumps.containsKey(Clock.WORKER)) {
            awaitClock(workerPort(scene), jumps.get(Clock.WORKER));
        }
        scene.traffic.stream("after-" + name, 1);
        // Its challenge, registration and reference begin under the new time.
        scene.startHarness();
        scene.traffic.awaitCallers();
        scene.traffic.assertAnswered("slow-" + name, true);
        scene.traffic.assertAnswered("after-" + name, true);
        scene.await(Fault.Ending.SAME_WORKER);
        assertEquals(
                List.of(),
                Stream.of("event=worker_control_disconnected", "event=mcp_control_disconnected")
                        .filter(scene.daemonLog()::contains)
                        .collect(Collectors.toList()),
                scene::transcript);
    }

    private static int workerPort(Scene scene) {
        List<Integer> ports =
                ProcessTable.listeningPorts(scene.workers().getFirst().pid());
        assertEquals(1, ports.size());
        return ports.getFirst();
    }

    /** Until an answer on this port bears the new time. */
    private static void awaitClock(int port, String offset) {
        Await.until("the clock of " + port + " at " + offset, Scene.LIMIT, () -> {
            String date = RawHttp.get(port, "/healthz").header("date").getFirst();
            Duration ahead = Duration.between(
                    Instant.now(),
                    ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME)
                            .toInstant());
            return Math.abs(ahead.toSeconds() - Long.parseLong(offset)) < 60;
        });
    }
}
