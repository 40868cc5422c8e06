package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.control.AgentRpcHandler;
import org.nemorelay.workerctl.McpDiscoveryRequest;
import org.nemorelay.workerctl.McpDiscoveryResponse;
import org.nemorelay.workerctl.McpToolRequest;
import org.nemorelay.workerctl.McpToolResponse;

/** Agent calls, both halves (distributed-seams 6). */
public abstract class AgentRpcConformance extends Conformance {
    private static final McpToolRequest TOOL = new McpToolRequest("m", "t", Map.of("a", 1L), Map.of(), Map.of());
    private static final McpDiscoveryRequest DISCOVERY = new McpDiscoveryRequest("m", Map.of(), Map.of());

    @Override
    final Seam seam() {
        return Seam.AGENT_RPC;
    }

    /** Answers with its name; tools wait for a latch when there is one. */
    private static final class Agent implements AgentRpcHandler {
        private final String name;
        private final AtomicInteger tools = new AtomicInteger();
        private final AtomicInteger now = new AtomicInteger();
        private final AtomicInteger peak = new AtomicInteger();
        private final List<String> stopped = Collections.synchronizedList(new ArrayList<>());
        private final AtomicReference<CountDownLatch> gate = new AtomicReference<>(new CountDownLatch(0));
        private final AtomicReference<Duration> left = new AtomicReference<>();

        private Agent(String name) {
            this.name = name;
        }

        @Override
        public McpToolResponse executeTool(Context context, McpToolRequest request) {
            tools.incrementAndGet();
            left.set(context.remaining().orElseThrow());
            peak.accumulateAndGet(now.incrementAndGet(), Math::max);
            Await.latch(gate.get());
            now.decrementAndGet();
            return request.toolName().equals("bad")
                    ? McpToolResponse.refused("no such tool")
                    : new McpToolResponse(name, "");
        }

        @Override
        public McpDiscoveryResponse discoverTools(Context context, McpDiscoveryRequest request) {
            left.set(context.remaining().orElseThrow());
            return McpDiscoveryResponse.refused("session error: none");
        }

        @Override
        public void backendStopped(String backend) {
            stopped.add(backend);
        }
    }

    private Registration serve(Agent agent) {
        return rig().peer().agentRpcServer().serve(agent.name, agent);
    }

    private McpToolResponse tool(Context context, McpToolRequest request) {
        return rig().here().agentControl().executeTool(context, request);
    }

    @Test
    void aDecodedReplyComesBackEvenWithItsErrorSet() {
        try (Registration _ = serve(new Agent("a"))) {
            assertEquals(new McpToolResponse("a", ""), tool(Context.background(), TOOL));
            McpToolRequest bad = new McpToolRequest("m", "bad", Map.of(), Map.of(), Map.of());
            assertEquals("no such tool", tool(Context.background(), bad).error());
            assertEquals(
                    "session error: none",
                    rig().here()
                            .agentControl()
                            .discoverTools(Context.background(), DISCOVERY)
                            .error());
        }
    }

    @Test
    void theHandlersHaveTheirOwnBudgets() {
        Agent agent = new Agent("a");
        try (Registration _ = serve(agent)) {
            tool(Context.background().withTimeout(Duration.ofSeconds(5)), TOOL);
            assertTrue(agent.left.get().compareTo(Duration.ofSeconds(300)) > 0, agent.left.toString());
            rig().here().agentControl().discoverTools(Context.background(), DISCOVERY);
            assertTrue(agent.left.get().compareTo(Duration.ofSeconds(60)) <= 0, agent.left.toString());
        }
    }

    @Test
    void noAgentWorkerIsNoRoute() {
        assertThrows(NoRouteException.class, () -> tool(Context.background(), TOOL));
        assertThrows(
                NoRouteException.class,
                () -> rig().here().agentControl().discoverTools(Context.background(), DISCOVERY));
    }

    @Test
    void aSpentDeadlineSendsNothing() {
        Agent agent = new Agent("a");
        try (Registration _ = serve(agent)) {
            assertThrows(
                    TimedOutException.class, () -> tool(Context.background().withTimeout(Duration.ZERO), TOOL));
            tool(Context.background(), TOOL);
            assertEquals(1, agent.tools.get());
        }
    }

    @Test
    void silenceUntilTheDeadlineIsATimeout() {
        Agent agent = new Agent("a");
        agent.gate.set(new CountDownLatch(1));
        try (Registration _ = serve(agent)) {
            assertThrows(
                    TimedOutException.class,
                    () -> tool(Context.background().withTimeout(Duration.ofMillis(200)), TOOL));
            agent.gate.get().countDown();
        }
    }

    @Test
    void cancellationEndsTheCallOrIsIgnored() {
        Agent agent = new Agent("a");
        agent.gate.set(new CountDownLatch(1));
        try (Registration _ = serve(agent)) {
            Context.Cancellable context =
                    Context.background().withTimeout(Duration.ofSeconds(8)).cancellable();
            AtomicReference<Object> outcome = new AtomicReference<>();
            Thread.ofVirtual().start(() -> {
                try {
                    outcome.set(tool(context, TOOL));
                } catch (CancelledException e) {
                    outcome.set(e);
                }
            });
            Await.until("the tool runs", () -> agent.tools.get() == 1);
            context.cancel();
            if (has(Capability.AGENT_CALL_HEEDS_CANCELLATION)) {
                Await.until("the call ends", () -> outcome.get() instanceof CancelledException);
                agent.gate.get().countDown();
            } else {
                Await.never("the call ends", Duration.ofMillis(200), () -> outcome.get() != null);
                agent.gate.get().countDown();
                Await.until("the reply", () -> outcome.get() instanceof McpToolResponse);
            }
        }
    }

    @Test
    void anUndecodableBodyIsAnsweredWithUnmarshalError() {
        try (Registration _ = serve(new Agent("a"))) {
            for (String subject : List.of(Subjects.mcpToolsExecute(), Subjects.mcpDiscovery())) {
                String reply = text(
                        rig().exchange().request(Context.background(), subject, bytes("nonsense"), CarrierRig.BOUND));
                assertTrue(reply.startsWith("{\"error\":\"unmarshal error: "), reply);
            }
        }
    }

    @Test
    void oneToolCallAtATimeWhileDiscoveryGoesOn() {
        Agent agent = new Agent("a");
        agent.gate.set(new CountDownLatch(1));
        try (Registration _ = serve(agent)) {
            List<Thread> callers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                callers.add(Thread.ofVirtual().start(() -> tool(Context.background(), TOOL)));
            }
            Await.until("one runs", () -> agent.now.get() == 1);
            rig().here().agentControl().discoverTools(Context.background(), DISCOVERY);
            agent.gate.get().countDown();
            Await.until("all are answered", () -> callers.stream().noneMatch(Thread::isAlive));
            assertEquals(1, agent.peak.get());
        }
    }

    @Test
    void agentWorkersShareTheCalls() {
        Agent one = new Agent("one");
        Agent other = new Agent("other");
        try (Registration _ = serve(one);
                Registration _ = serve(other)) {
            for (int i = 0; i < 40; i++) {
                tool(Context.background(), TOOL);
            }
            assertEquals(40, one.tools.get() + other.tools.get());
            assertTrue(one.tools.get() > 0 && other.tools.get() > 0);
        }
    }

    @Test
    void theNodesBackendStopIsHeardAndNeverAnswered() {
        Agent agent = new Agent("a");
        try (Registration _ = serve(agent)) {
            String subject = Subjects.node("a", "backend.stop");
            rig().exchange().post(subject, bytes("junk"));
            rig().exchange().post(subject, new byte[0]);
            Await.until("stop everything", () -> agent.stopped.equals(List.of("")));
            rig().here().commands().stopBackend("a", "b", false);
            assertEquals(List.of("", "b"), agent.stopped);
        }
    }

    @Test
    void afterItsEndThereIsNoRoute() {
        serve(new Agent("a")).close();
        assertThrows(NoRouteException.class, () -> tool(Context.background(), TOOL));
    }
}
