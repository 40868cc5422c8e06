package org.nemorelay.it.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.NatsServer;

/**
 * While both carriers are alive: nothing missing, doubled or out of order; every accepted job runs once; a limit of one holds;
 * every call is answered or fails with its type; nothing is left.
 */
class SoakTest {
    private static final int SWAPS = 20;
    /** Between two messages of a publisher; jobs and calls come a few times more seldom. */
    private static final long LIGHT = 1_000_000;

    private static final long HEAVY = 200_000;

    @TempDir
    Path folder;

    @BeforeAll
    static void server() {
        NatsServer.requireInstalled();
    }

    @Test
    void threeProcessesBetweenTwoServersOfACluster() {
        cluster(LIGHT);
    }

    @Test
    @Tag("long")
    void threeProcessesBetweenTwoServersOfAClusterUnderLoad() {
        cluster(HEAVY);
    }

    private void cluster(long pause) {
        List<NatsServer> servers = NatsServer.cluster();
        try (NatsServer one = servers.getFirst();
                NatsServer two = servers.getLast();
                Fleet fleet = new Fleet(folder, 3, "a", List.of("a=" + one.url(), "b=" + two.url()))) {
            fleet.all(member -> member.order("go " + pause));
            fleet.all(member -> {
                for (int swap = 0; swap < SWAPS; swap++) {
                    member.order("swap " + (swap % 2 == 0 ? "b" : "a"));
                }
            });
            lossless(fleet.finish());
            nothingIsConnected(servers);
        }
    }

    @Test
    void oneProcessFromLocalToNatsAndBack() {
        oneProcess(LIGHT);
    }

    @Test
    @Tag("long")
    void oneProcessFromLocalToNatsAndBackUnderLoad() {
        oneProcess(HEAVY / 4);
    }

    private void oneProcess(long pause) {
        try (NatsServer server = NatsServer.start();
                Fleet fleet = new Fleet(folder, 1, "local", List.of("nats=" + server.url()))) {
            fleet.all(member -> member.order("go " + pause));
            for (int swap = 0; swap < SWAPS; swap++) {
                fleet.member(0).order("swap nats");
                fleet.member(0).order("swap local");
            }
            lossless(fleet.finish());
            nothingIsConnected(List.of(server));
        }
    }

    @Test
    void theBundleIsUpdatedWithTheNewBesideTheOld() {
        updated(LIGHT);
    }

    @Test
    @Tag("long")
    void theBundleIsUpdatedWithTheNewBesideTheOldUnderLoad() {
        updated(HEAVY);
    }

    private void updated(long pause) {
        try (NatsServer server = NatsServer.start();
                Fleet fleet = new Fleet(folder, 3, "a", List.of("a=" + server.url()))) {
            fleet.all(member -> member.order("go " + pause));
            fleet.all(member -> {
                for (int update = 0; update < SWAPS; update++) {
                    member.order("update a");
                }
            });
            lossless(fleet.finish());
            nothingIsConnected(List.of(server));
        }
    }

    /** For a moment there is no carrier: calls say so, and what was said meanwhile is missed. Nothing else may happen. */
    @Test
    @Tag("long")
    void theBundleIsUpdatedInPlace() {
        try (NatsServer server = NatsServer.start();
                Fleet fleet = new Fleet(folder, 3, "a", List.of("a=" + server.url()))) {
            fleet.all(member -> member.order("go " + LIGHT));
            fleet.indexes().forEach(index -> {
                for (int update = 0; update < SWAPS; update++) {
                    fleet.member(index).order("replace");
                }
            });
            Fleet.Result result = fleet.finish();
            System.err.println(result);
            assertEquals(0, result.count("doubled"));
            assertEquals(0, result.count("wrong"));
            assertEquals(0, result.count("unexplained"));
            assertEquals(0, result.lost(), "accepted jobs that did not run");
            assertEquals(0, result.doubledJobs());
            assertEquals(1, result.count("serial_peak"));
            result.ends().forEach(end -> assertEquals("threads=0 loaders=0 failures=0", end));
            nothingIsConnected(List.of(server));
        }
    }

    private static void lossless(Fleet.Result result) {
        System.err.println(result);
        assertTrue(result.count("published") > 100 && result.accepted() > 50 && result.count("calls") > 100);
        assertEquals(0, result.count("missing"), "missing");
        assertEquals(0, result.count("doubled"), "doubled or out of order");
        assertEquals(0, result.count("wrong"), "bodies and headers");
        assertEquals(0, result.lost(), "accepted jobs that did not run");
        assertEquals(0, result.doubledJobs(), "jobs that ran twice");
        assertEquals(1, result.count("serial_peak"), "at once under a limit of one");
        assertEquals(0, result.count("unexplained"), "failures without a type");
        result.ends().forEach(end -> assertEquals("threads=0 loaders=0 failures=0", end));
    }

    private static void nothingIsConnected(List<NatsServer> servers) {
        for (NatsServer server : servers) {
            Await.until("no connection is left", () -> server.connections() == 0);
        }
    }
}
