package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.workerctl.ModelsRunningReply;

/** What a user's test leans on. */
class FakeBusTest {
    private final FakeBus bus = new FakeBus();

    @Test
    void deliversBeforePublishReturnsAndCounts() {
        AtomicInteger seen = new AtomicInteger();
        bus.broadcaster().subscribe("state.*.delta", message -> seen.incrementAndGet());
        bus.broadcaster().publish(Subjects.stateDelta("s"), new byte[0]);
        assertEquals(1, seen.get());
        assertEquals(1, bus.publishCount(Subjects.stateDelta("s")));
        assertEquals(0, bus.publishCount(Subjects.stateDelta("other")));
    }

    @Test
    void aHandlerMayPublishToItself() {
        AtomicInteger seen = new AtomicInteger();
        bus.broadcaster().subscribe(Subjects.jobsNew(), message -> {
            if (seen.incrementAndGet() < 3) {
                bus.broadcaster().publish(Subjects.jobsNew(), new byte[0]);
            }
        });
        bus.broadcaster().publish(Subjects.jobsNew(), new byte[0]);
        assertEquals(3, seen.get());
    }

    @Test
    void showsQueueGroups() {
        bus.workConsumer().consume(Context.background(), WorkKind.MCP_CI, 1, (context, payload, events) -> {});
        assertEquals(Map.of("jobs.mcp-ci.new", "workers"), bus.queueGroups());
    }

    @Test
    void asksWhoeverServesASubject() {
        String subject = Subjects.node("n", "models.running");
        assertFalse(bus.deliverReply(subject, new byte[0]).isPresent());
        bus.controlServer("n")
                .handle(
                        ControlVerb.MODELS_RUNNING,
                        Need.MANDATORY,
                        ControlHandler.unary(context -> new ModelsRunningReply(List.of(), "", true)));
        assertEquals(
                new ModelsRunningReply(List.of(), "", true),
                ModelsRunningReply.decode(bus.deliverReply(subject, new byte[0]).orElseThrow()));
    }

    @Test
    void tellsOfTheReturnOfTheLink() {
        AtomicInteger returns = new AtomicInteger();
        bus.broadcaster().onReconnect(returns::incrementAndGet);
        bus.triggerReconnect();
        assertEquals(1, returns.get());
    }
}
