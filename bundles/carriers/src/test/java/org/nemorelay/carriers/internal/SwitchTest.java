package org.nemorelay.carriers.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.nemorelay.carrier.local.internal.LocalCarrier;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.NoCarrierException;
import org.nemorelay.seams.PermissionDeniedException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.testkit.Await;
import org.nemorelay.workerctl.BackendListReply;
import org.nemorelay.workerctl.McpToolRequest;

class SwitchTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    private final FacadeRig rig = new FacadeRig();
    private final Facades facades = rig.facades;
    private final Switch carriers = rig.carriers;

    @AfterEach
    void close() {
        rig.close();
    }

    private List<Message> collect(String subject) {
        List<Message> seen = Collections.synchronizedList(new ArrayList<>());
        facades.broadcaster().subscribe(subject, seen::add);
        return seen;
    }

    private void publish() {
        facades.broadcaster().publish("jobs.new", new byte[0]);
    }

    @Test
    void aRunningCallKeepsTheCarrierItBeganWithAndTheNextTakesTheNewOne() {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        facades.controlServer("n")
                .handleWithProgress(ControlVerb.BACKEND_LIST, Need.MANDATORY, ControlHandler.unary(context -> {
                    if (started.getCount() > 0) {
                        started.countDown();
                        Await.latch(release);
                    }
                    return new BackendListReply(List.of(), "answered");
                }));
        AtomicReference<BackendListReply> reply = new AtomicReference<>();
        Thread caller =
                Thread.ofVirtual().start(() -> reply.set(facades.commands().listBackends("n")));
        Await.latch(started);
        Thread using = Thread.ofVirtual().start(() -> carriers.use("two", SOON));
        Await.until("the new one is current", () -> carriers.status().current().equals(Optional.of("two")));
        assertEquals("answered", facades.commands().listBackends("n").error());
        release.countDown();
        Await.until("the first is answered", () -> !caller.isAlive());
        assertEquals("answered", reply.get().error());
        Await.until("the switch is done", () -> !using.isAlive());
        Await.until("nothing retires", () -> carriers.status().retiring().isEmpty());
    }

    @Test
    void withoutACarrierCallsFailAtOnceAndWhatStandsAttachesToTheNext() {
        AtomicInteger returns = new AtomicInteger();
        AtomicInteger jobs = new AtomicInteger();
        carriers.go(rig.one);
        facades.broadcaster().onReconnect(returns::incrementAndGet);
        List<Message> seen = collect("jobs.new");
        facades.workConsumer()
                .consume(
                        Context.background(), WorkKind.MCP_CI, 1, (context, payload, events) -> jobs.incrementAndGet());
        assertTrue(facades.controlServer("n")
                .handle(
                        ControlVerb.BACKEND_LIST,
                        Need.MANDATORY,
                        ControlHandler.unary(context -> new BackendListReply(List.of(), ""))));
        Context context = Context.background();
        List<Executable> calls = List.of(
                this::publish,
                () -> facades.broadcaster().flush(SOON),
                () -> facades.workQueue().enqueue(context, WorkKind.MCP_CI, new byte[0]),
                () -> facades.commands().listBackends("n"),
                () -> facades.agentControl()
                        .executeTool(context, new McpToolRequest("m", "t", Map.of(), Map.of(), Map.of())),
                () -> facades.backendClients().newClient("n", "a:1", true),
                () -> facades.prober().probe(context, "n", "a:1"),
                () -> facades.dialers().dialerFor("n"),
                () -> facades.stager().fetchRemote(context, "n", "x", Path.of("x")),
                () -> facades.store().exists(context, "x"));
        for (Executable call : calls) {
            long start = System.nanoTime();
            assertThrows(NoCarrierException.class, call);
            assertTrue(System.nanoTime() - start < 500_000_000L, "at once");
        }
        carriers.come(rig.one);
        Await.until("current again", () -> carriers.status().current().isPresent());
        publish();
        facades.workQueue().enqueue(context, WorkKind.MCP_CI, new byte[0]);
        facades.commands().listBackends("n");
        Await.until("message and job", () -> seen.size() == 1 && jobs.get() == 1);
        assertEquals(1, returns.get());
    }

    @Test
    void nothingMovesToACarrierThatIsNotWanted() {
        carriers.go(rig.one);
        assertEquals(Optional.empty(), carriers.status().current());
        carriers.want("two", "none");
        Await.until("two is current", () -> carriers.status().current().equals(Optional.of("two")));
        carriers.want("three", "none");
        carriers.come(rig.one);
        publish();
        assertEquals(Optional.of("two"), carriers.status().current(), "the old one stays until the new one is there");
    }

    @Test
    void anotherCarrierOfTheSameNameTakesOverBeforeTheFirstIsGone() {
        List<Message> seen = collect("jobs.new");
        LocalCarrier update = rig.local("one");
        carriers.come(update);
        publish();
        carriers.go(rig.one);
        publish();
        Await.until("both messages", () -> seen.size() == 2);
        assertTrue(facades.bus().current().filter(now -> now == update).isPresent());
        carriers.go(update);
        update.close();
    }

    @Test
    void aCarrierThatRefusesWhatStandsChangesNothing() {
        List<Message> seen = collect("jobs.new");
        Carrier denying = new Denying();
        carriers.come(denying);
        RelayException refused = assertThrows(RelayException.class, () -> carriers.use("denying", SOON));
        assertEquals(FailureKind.CONFLICT, refused.kind());
        assertTrue(refused.getMessage().contains("no permission"), refused.getMessage());
        assertEquals(Optional.of("one"), carriers.status().current());
        assertEquals("one", carriers.status().wanted());
        publish();
        Await.until("still delivered", () -> seen.size() == 1);
        carriers.use("two", SOON);
        assertEquals(Optional.empty(), carriers.status().failure());
    }

    /** A transport that denies every subscription. */
    private static final class Denying implements Carrier {
        @Override
        public String name() {
            return "denying";
        }

        @Override
        public Set<Seam> seams() {
            return Set.of(Seam.FAN_OUT);
        }

        @Override
        public boolean connected() {
            return true;
        }

        @Override
        public Broadcaster broadcaster() {
            return new Broadcaster() {
                @Override
                public void publish(Message message) {
                    throw new PermissionDeniedException("no permission");
                }

                @Override
                public Subscription subscribe(String subject, Consumer<Message> handler) {
                    throw new PermissionDeniedException("no permission for " + subject);
                }

                @Override
                public void flush(Duration bound) {}

                @Override
                public Registration onReconnect(Runnable action) {
                    return () -> {};
                }
            };
        }
    }

    @Test
    void anUnknownCarrierIsNotFoundAndTheOthersAreNamed() {
        RelayException unknown = assertThrows(RelayException.class, () -> carriers.use("tres", SOON));
        assertEquals(FailureKind.NOT_FOUND, unknown.kind());
        assertTrue(unknown.getMessage().contains("[one, two]"), unknown.getMessage());
    }

    @Test
    void anOpenStreamGoesOnWhereItBeganWhileItsClientsNextCallTakesTheNewCarrier() {
        AtomicInteger calls = new AtomicInteger();
        Registration serving = facades.endpoints().backend("n", "a:1", (method, exchange) -> {
            calls.incrementAndGet();
            for (Optional<byte[]> next = exchange.next(); next.isPresent(); next = exchange.next()) {
                exchange.send(next.get());
            }
        });
        BackendClient client = facades.backendClients().newClient("n", "a:1", true);
        BackendClient.Call stream = client.open(Context.background(), "Forward");
        stream.send(new byte[] {1});
        assertEquals(1, stream.next().orElseThrow()[0]);
        carriers.use("two", SOON);
        stream.send(new byte[] {2});
        assertEquals(2, stream.next().orElseThrow()[0]);
        assertEquals(3, client.call(Context.background(), "Forward", new byte[] {3})[0]);
        stream.halfClose();
        assertEquals(Optional.empty(), stream.next());
        stream.close();
        assertEquals(2, calls.get());
        client.close();
        serving.close();
    }

    @Test
    void aLimitOfOneHoldsOverBothCarriers() {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger now = new AtomicInteger();
        AtomicInteger peak = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        facades.workConsumer().consume(Context.background(), WorkKind.MCP_CI, 1, (context, payload, events) -> {
            peak.accumulateAndGet(now.incrementAndGet(), Math::max);
            started.countDown();
            Await.latch(release);
            now.decrementAndGet();
            done.incrementAndGet();
        });
        facades.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, new byte[0]);
        facades.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, new byte[0]);
        Await.latch(started);
        carriers.use("two", SOON);
        facades.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, new byte[0]);
        Await.never("another one runs", Duration.ofMillis(100), () -> now.get() > 1);
        release.countDown();
        Await.until("all ran", () -> done.get() == 3);
        assertEquals(1, peak.get());
    }

    @Test
    void aHandlersEventsGoThroughTheFacadeWhateverCarrierBroughtTheJob() {
        List<Message> results = collect("jobs.*.result");
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        facades.workConsumer().consume(Context.background(), WorkKind.MCP_CI, 1, (context, payload, events) -> {
            started.countDown();
            Await.latch(release);
            events.publish("jobs.j.result", payload);
        });
        facades.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, new byte[] {9});
        Await.latch(started);
        carriers.use("two", SOON);
        release.countDown();
        Await.until("the result, once", () -> results.size() == 1);
        assertTrue(results.getFirst().headers().isEmpty());
    }

    @Test
    void aCarrierThatServesOnlyDiallingIsUsedForThatWhereTheWantedOneDoesNot() {
        Carrier busOnly = new BusOnly(rig.two);
        carriers.go(rig.two);
        carriers.come(busOnly);
        carriers.want("bus", "one");
        Await.until("bus is current", () -> carriers.status().current().equals(Optional.of("bus")));
        Await.until(
                "one dials",
                () -> facades.dial().current().filter(now -> now == rig.one).isPresent());
        assertFalse(carriers.status().present().isEmpty());
        carriers.go(busOnly);
    }

    private record BusOnly(LocalCarrier carrier) implements Carrier {
        @Override
        public String name() {
            return "bus";
        }

        @Override
        public Set<Seam> seams() {
            return Set.of(Seam.FAN_OUT, Seam.QUEUES);
        }

        @Override
        public boolean connected() {
            return true;
        }

        @Override
        public Broadcaster broadcaster() {
            return carrier.broadcaster();
        }

        @Override
        public org.nemorelay.seams.WorkQueue workQueue() {
            return carrier.workQueue();
        }
    }
}
