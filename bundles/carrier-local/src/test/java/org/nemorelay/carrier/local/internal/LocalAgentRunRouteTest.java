package org.nemorelay.carrier.local.internal;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.testkit.Await;

class LocalAgentRunRouteTest {
    @Test
    void withAnEmptyQueueEveryAgentWorkerRunsEveryJob() {
        try (LocalRig rig = new LocalRig(WorkRoutes.standard().withAgentRunRoute("", ""))) {
            AtomicInteger one = new AtomicInteger();
            AtomicInteger other = new AtomicInteger();
            for (AtomicInteger runs : new AtomicInteger[] {one, other}) {
                rig.here()
                        .workConsumer()
                        .consume(
                                Context.background(),
                                WorkKind.AGENT_RUN,
                                0,
                                (context, payload, events) -> runs.incrementAndGet());
            }
            rig.here().workQueue().enqueue(Context.background(), WorkKind.AGENT_RUN, new byte[0]);
            Await.until("both ran it", () -> one.get() == 1 && other.get() == 1);
        }
    }

    @Test
    void aMovedRouteIsTheConsumersAlone() {
        try (LocalRig rig = new LocalRig(WorkRoutes.standard().withAgentRunRoute("agent.mine", "mine"))) {
            AtomicInteger runs = new AtomicInteger();
            rig.here()
                    .workConsumer()
                    .consume(
                            Context.background(),
                            WorkKind.AGENT_RUN,
                            0,
                            (context, payload, events) -> runs.addAndGet(payload.length));
            rig.here().workQueue().enqueue(Context.background(), WorkKind.AGENT_RUN, new byte[1]);
            rig.here().broadcaster().publish("agent.mine", new byte[10]);
            Await.until("what came on the moved subject", () -> runs.get() == 10);
        }
    }
}
