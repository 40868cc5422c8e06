package org.nemorelay.carrier.nats.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.seams.AbsentException;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.testkit.Await;
import org.nemorelay.workerctl.BackendListReply;

/** B39: nobody listening is known at once, as a routing fact of our own, and only where it is one. */
class NoResponderTest {
    private static ControlServer listing(NatsRig rig) {
        ControlServer server = rig.peer().controlServer("n");
        server.handle(
                ControlVerb.BACKEND_LIST,
                Need.MANDATORY,
                ControlHandler.unary(context -> new BackendListReply(List.of(), "")));
        return server;
    }

    @Test
    void b39AWorkerThatHasJustLeftIsNoRouteWithinAHundredMilliseconds() {
        try (NatsRig rig = new NatsRig()) {
            ControlServer server = listing(rig);
            rig.here().commands().listBackends("n");
            server.close();
            long least = Long.MAX_VALUE;
            for (int i = 0; i < 5; i++) {
                long start = System.nanoTime();
                NoRouteException noRoute = assertThrows(
                        NoRouteException.class, () -> rig.here().commands().listBackends("n"));
                least = Math.min(least, System.nanoTime() - start);
                assertEquals(FailureKind.UNAVAILABLE, noRoute.kind());
                assertNull(noRoute.getCause(), "the client library's own word stays behind");
            }
            // The least of five: one may meet a pause of a machine that does more.
            assertTrue(least < Duration.ofMillis(100).toNanos(), least + " ns");
        }
    }

    @Test
    void whileTheLinkIsDownAndJustAfterNobodyIsSaidToBeMissing() {
        try (NatsRig rig = new NatsRig()) {
            listing(rig);
            rig.server.kill();
            Await.until("the link is down", () -> !rig.here().connected());
            assertThrows(AbsentException.class, () -> rig.here().commands().listBackends("n"));
            rig.server.restart();
            Await.until("back", () -> rig.here().connected());
            assertThrows(AbsentException.class, () -> rig.here().commands().listBackends("somebody"));
            Await.until("and later it is a fact", () -> {
                try {
                    rig.here().commands().listBackends("somebody");
                    return false;
                } catch (AbsentException e) {
                    return false;
                } catch (NoRouteException e) {
                    return true;
                }
            });
        }
    }

    @Test
    void twoServersOfOneNodeServeEachRequestOnce() {
        try (NatsRig rig = new NatsRig()) {
            java.util.concurrent.atomic.AtomicInteger calls = new java.util.concurrent.atomic.AtomicInteger();
            for (var end : List.of(rig.here(), rig.peer())) {
                end.controlServer("n")
                        .handle(ControlVerb.BACKEND_LIST, Need.MANDATORY, ControlHandler.unary(context -> {
                            calls.incrementAndGet();
                            return new BackendListReply(List.of(), "");
                        }));
            }
            for (int i = 0; i < 20; i++) {
                rig.here().commands().listBackends("n");
            }
            assertEquals(20, calls.get());
        }
    }
}
