package org.nemorelay.it.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.testkit.NatsServer;

/** The server killed and restarted under load: at most once, losses counted, no routing fact made of a dead link, and back soon. */
class LossTest {
    /** Each hears every message. */
    private static final int MEMBERS = 3;

    private static final int ROUNDS = 5;

    @TempDir
    Path folder;

    @BeforeAll
    static void server() {
        NatsServer.requireInstalled();
    }

    @Test
    void fiveTimes() {
        try (NatsServer server = NatsServer.start();
                Fleet fleet = new Fleet(folder, MEMBERS, "a", List.of("a=" + server.url()))) {
            fleet.all(member -> member.order("go 500000"));
            for (int round = 0; round < ROUNDS; round++) {
                fleet.all(member -> member.order("serves"));
                server.kill();
                server.restart();
                long start = System.nanoTime();
                fleet.all(member -> member.order("whole"));
                Duration took = Duration.ofNanos(System.nanoTime() - start);
                assertTrue(took.compareTo(Duration.ofSeconds(3)) < 0, "full service after " + took);
            }
            Fleet.Result result = fleet.finish();
            System.err.println(result);
            assertEquals(0, result.count("doubled"), "doubled or out of order");
            assertEquals(0, result.count("wrong"), "bodies and headers");
            assertEquals(0, result.doubledJobs(), "jobs that ran twice");
            assertEquals(1, result.count("serial_peak"));
            assertEquals(0, result.count("unexplained"), "failures without a type");
            assertTrue(result.count("typed call AbsentException") > 0, "calls met the dead link");
            assertEquals(0, result.count("typed call NoRouteException"), "a dead link is no routing fact");
            assertTrue(result.count("missing") < MEMBERS * result.count("published"), "some messages came");
            result.ends().forEach(end -> assertEquals("threads=0 loaders=0 failures=0", end));
        }
    }
}
