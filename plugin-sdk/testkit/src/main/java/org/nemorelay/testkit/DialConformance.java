package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.seams.dial.BackendService;
import org.nemorelay.seams.dial.ModelProber.Finding;

/** Clients to backends and probes (distributed-seams 7). */
public abstract class DialConformance extends Conformance {
    @Override
    final Seam seam() {
        return Seam.DIAL;
    }

    private BackendClient client(String nodeId, boolean parallel) {
        return rig().here().backendClients().newClient(nodeId, rig().backendAddress(), parallel);
    }

    private static BackendService named(String name) {
        return (method, exchange) -> {
            switch (method) {
                case "Predict" ->
                    exchange.send(bytes(name + ":" + text(exchange.next().orElseThrow())));
                case "PredictStream" -> {
                    int count = Integer.parseInt(text(exchange.next().orElseThrow()));
                    for (int i = 0; i < count; i++) {
                        exchange.send(bytes("t" + i));
                    }
                }
                case "Forward" -> {
                    for (Optional<byte[]> next = exchange.next(); next.isPresent(); next = exchange.next()) {
                        exchange.send(bytes("echo " + text(next.get())));
                    }
                }
                case "Health" -> exchange.send(bytes("\n\u0002OK"));
                default -> throw new RefusedException("UNIMPLEMENTED", method);
            }
        };
    }

    @Test
    void aUnaryCallReturnsItsReply() {
        try (Registration _ = rig().serveBackend("n", rig().backendAddress(), named("n"));
                BackendClient client = client("n", true)) {
            assertEquals("n:hi", text(client.call(Context.background(), "Predict", bytes("hi"))));
        }
    }

    @Test
    void aStreamComesInOrderToItsEnd() {
        try (Registration _ = rig().serveBackend("n", rig().backendAddress(), named("n"));
                BackendClient client = client("n", true);
                BackendClient.Call call = client.open(Context.background(), "PredictStream")) {
            call.send(bytes("200"));
            call.halfClose();
            for (int i = 0; i < 200; i++) {
                assertEquals("t" + i, text(call.next().orElseThrow()));
            }
            assertEquals(Optional.empty(), call.next());
        }
    }

    @Test
    void bothWaysStream() {
        try (Registration _ = rig().serveBackend("n", rig().backendAddress(), named("n"));
                BackendClient client = client("n", true);
                BackendClient.Call call = client.open(Context.background(), "Forward")) {
            for (int i = 0; i < 3; i++) {
                call.send(bytes("m" + i));
                assertEquals("echo m" + i, text(call.next().orElseThrow()));
            }
            call.halfClose();
            assertEquals(Optional.empty(), call.next());
        }
    }

    @Test
    void anotherStatusIsTheBackendsOwnAnswer() {
        try (Registration _ = rig().serveBackend("n", rig().backendAddress(), named("n"));
                BackendClient client = client("n", true)) {
            RefusedException refused = assertThrows(
                    RefusedException.class, () -> client.call(Context.background(), "Nothing", new byte[0]));
            assertEquals("UNIMPLEMENTED", refused.code());
        }
    }

    @Test
    void nobodyAtTheAddressIsUnreachable() {
        try (BackendClient client = client("n", true)) {
            SeamException thrown =
                    assertThrows(SeamException.class, () -> client.call(Context.background(), "Health", new byte[0]));
            assertEquals(UnreachableException.class, thrown.getClass());
        }
    }

    @Test
    void aBackendThatGoesAwayEndsItsCallsAsUnreachable() {
        CountDownLatch started = new CountDownLatch(1);
        Registration serving = rig().serveBackend("n", rig().backendAddress(), (method, exchange) -> {
            started.countDown();
            exchange.next();
        });
        try (BackendClient client = client("n", true);
                BackendClient.Call call = client.open(Context.background(), "Forward")) {
            Await.latch(started);
            serving.close();
            assertThrows(UnreachableException.class, call::next);
        }
    }

    @Test
    void theDeadlineEndsACall() {
        try (Registration _ = rig().serveBackend(
                                "n",
                                rig().backendAddress(),
                                (method, exchange) -> exchange.next()
                                        .flatMap(first -> exchange.next())
                                        .ifPresent(exchange::send));
                BackendClient client = client("n", true);
                BackendClient.Call call =
                        client.open(Context.background().withTimeout(Duration.ofMillis(200)), "Forward")) {
            call.send(bytes("x"));
            assertThrows(TimedOutException.class, call::next);
        }
    }

    @Test
    void cancellingTheContextEndsACallOnBothSides() {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch told = new CountDownLatch(1);
        Context.Cancellable context = Context.background().cancellable();
        try (Registration _ = rig().serveBackend("n", rig().backendAddress(), (method, exchange) -> {
                    started.countDown();
                    try {
                        exchange.next();
                    } catch (CancelledException e) {
                        told.countDown();
                    }
                });
                BackendClient client = client("n", true);
                BackendClient.Call call = client.open(context, "Forward")) {
            Await.latch(started);
            context.cancel();
            assertThrows(CancelledException.class, call::next);
            Await.latch(told);
        }
    }

    @Test
    void twoNodesWithOneAddressAreTwoBackends() {
        needs(Capability.ROUTES_BY_NODE);
        try (Registration _ = rig().serveBackend("one", rig().backendAddress(), named("one"));
                Registration _ = rig().serveBackend("other", rig().backendAddress(), named("other"));
                BackendClient toOne = client("one", true);
                BackendClient toOther = client("other", true)) {
            assertEquals("one:x", text(toOne.call(Context.background(), "Predict", bytes("x"))));
            assertEquals("other:x", text(toOther.call(Context.background(), "Predict", bytes("x"))));
        }
    }

    @Test
    void aBackendThatIsNotParallelGetsOneCallAtATime() {
        AtomicInteger now = new AtomicInteger();
        AtomicInteger peak = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        try (Registration _ = rig().serveBackend("n", rig().backendAddress(), (method, exchange) -> {
                    peak.accumulateAndGet(now.incrementAndGet(), Math::max);
                    byte[] request = exchange.next().orElseThrow();
                    now.decrementAndGet();
                    exchange.send(request);
                });
                BackendClient client = client("n", false)) {
            for (int i = 0; i < 8; i++) {
                Thread.ofVirtual().start(() -> {
                    client.call(Context.background(), "Predict", bytes("x"));
                    done.incrementAndGet();
                });
            }
            Await.until("all are done", () -> done.get() == 8);
            assertEquals(1, peak.get());
        }
    }

    @Test
    void closingAClientEndsItsCalls() {
        try (Registration _ = rig().serveBackend("n", rig().backendAddress(), (method, exchange) -> exchange.next())) {
            BackendClient client = client("n", true);
            try (BackendClient.Call call = client.open(Context.background(), "Forward")) {
                client.close();
                assertThrows(CancelledException.class, call::next);
            }
        }
    }

    @Test
    void aProbeTellsAliveBusyAndUnreachable() {
        assertEquals(Finding.UNREACHABLE, probe());
        try (Registration _ = rig().serveBackend("n", rig().backendAddress(), named("n"))) {
            assertEquals(Finding.ALIVE, probe());
        }
        try (Registration _ = rig().serveBackend(
                        "n", rig().backendAddress(), (method, exchange) -> exchange.send(bytes("\n\u0004sick")))) {
            assertEquals(Finding.UNREACHABLE, probe());
        }
        try (Registration _ = rig().serveBackend("n", rig().backendAddress(), (method, exchange) -> {
            throw new RefusedException("RESOURCE_EXHAUSTED", "later");
        })) {
            assertEquals(Finding.BUSY, probe());
        }
        CountDownLatch release = new CountDownLatch(1);
        try (Registration _ =
                rig().serveBackend("n", rig().backendAddress(), (method, exchange) -> Await.latch(release))) {
            assertEquals(Finding.BUSY, probe(), "no answer in time is proof of life");
            release.countDown();
        }
    }

    private Finding probe() {
        return rig().here().prober().probe(Context.background(), "n", rig().backendAddress());
    }
}
