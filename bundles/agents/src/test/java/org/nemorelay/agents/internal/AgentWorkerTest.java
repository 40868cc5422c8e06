package org.nemorelay.agents.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.annotation.Annotation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.nemorelay.fleet.AgentChat;
import org.nemorelay.fleet.AgentEvent;
import org.nemorelay.fleet.JobEvent;
import org.nemorelay.fleet.JobProgress;
import org.nemorelay.fleet.JobResult;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.CancelRegistry;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.Publisher;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.CallCarrier;
import org.nemorelay.testkit.FakeBus;
import org.nemorelay.testkit.Recorder;

class AgentWorkerTest {
    private final FakeBus bus = new FakeBus();
    private final Recorder recorder = new Recorder();

    /** A model that knows no tools. */
    private interface Says {
        String ask(Context context, String model, String prompt);
    }

    private static Chat chat(Says says) {
        return (context, model, messages, tools) -> Chat.Turn.of(
                says.ask(context, model, (String) messages.getLast().get("content")));
    }

    private AgentWorker worker(Says says, WorkConsumer consumer) {
        return new AgentWorker(
                new Config(3), chat(says), recorder, recorder, bus.broadcaster(), consumer, bus.agentRpcServer());
    }

    private static byte[] job(String id, boolean servers) {
        JsonObject task = JsonObject.of(Json.object("model", "m", "prompt", "p"), "task");
        JsonObject config =
                JsonObject.of(Json.object("mcp", servers ? FakeMcp.table() : Json.object()), "model_config");
        return new JobEvent(id, "t", "", Optional.of(task), Optional.of(task), Optional.of(config)).encode();
    }

    private static byte[] run(String messageId) {
        return new AgentChat(
                        "clerk",
                        "ada",
                        "hello",
                        messageId,
                        "user",
                        Optional.of(JsonObject.of(Json.object("model", "m"), "config")))
                .encode();
    }

    private List<JobResult> results() {
        List<JobResult> results = new CopyOnWriteArrayList<>();
        bus.broadcaster().subscribe("jobs.*.result", message -> results.add(JobResult.decode(message.body())));
        return results;
    }

    @Test
    void oneConsumerForEachKindWithItsLimit() {
        List<String> asked = new ArrayList<>();
        worker((context, model, prompt) -> "", (context, kind, limit, handler) -> {
            asked.add(kind.word() + " " + limit);
            return Subscriptions.NONE;
        });
        assertEquals(List.of("mcp-ci 1", "task 0", "agent-run 3"), asked);
    }

    /** The worker runs on whatever carries the seams, here on one that has no connection at all. */
    @Test
    void openItem5_theWorkerKnowsNoTransport() {
        List<JobResult> results = results();
        AgentWorker worker = worker((context, model, prompt) -> model + " says " + prompt, bus.workConsumer());
        bus.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, job("j", true));
        Await.until("a result", () -> results.size() == 1);
        assertEquals(new JobResult("j", JobResult.COMPLETED, "m says p", ""), results.getFirst());
        worker.deactivate();
        bus.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, job("k", true));
        assertEquals(1, results.size());
    }

    @Test
    void everyFailureOfAJobIsAResult() {
        List<JobResult> results = results();
        worker(
                (context, model, prompt) -> {
                    throw new RefusedException("the model is out");
                },
                bus.workConsumer());
        bus.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, job("one", true));
        bus.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, job("two", false));
        bus.workQueue()
                .enqueue(
                        Context.background(),
                        WorkKind.MCP_CI,
                        new JobEvent("three", "", "", Optional.empty(), Optional.empty(), Optional.empty()).encode());
        bus.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, "nonsense".getBytes(StandardCharsets.UTF_8));
        assertEquals(
                List.of(
                        "the model is out",
                        "no MCP servers are configured for the model",
                        "job or task is missing in the payload"),
                results.stream().map(JobResult::error).toList());
        assertTrue(results.stream().allMatch(result -> result.status().equals(JobResult.FAILED)));
        assertEquals(List.of(), bus.recorder().failures());
    }

    @Test
    void theResultComesBeforeTheLastProgress() {
        List<String> events = new ArrayList<>();
        bus.broadcaster().subscribe("jobs.*.result", message -> events.add("result"));
        bus.broadcaster()
                .subscribe(
                        "jobs.*.progress",
                        message -> events.add(JobProgress.decode(message.body()).status()));
        worker((context, model, prompt) -> "done", bus.workConsumer());
        bus.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, job("j", true));
        assertEquals(List.of("running", "result", "completed"), events);
    }

    @Test
    void openItem9_aCarrierThatMustAnswerHasTheResultOfTheDelivery() {
        CallCarrier calls = new CallCarrier();
        worker((context, model, prompt) -> "answer", calls.workConsumer());
        JobResult result = JobResult.decode(calls.work(WorkKind.MCP_CI, job("j", true)));
        assertEquals("answer", result.result());
        assertEquals(0, bus.publishCount("jobs.j.result"), "nothing goes past the delivery's own publisher");
    }

    @Test
    void openItem10_twoRunsWithTwoPublishersDoNotMixAndAreCancelledByTheirIds() throws Exception {
        CancelRegistry cancels = new CancelRegistry();
        CountDownLatch both = new CountDownLatch(2);
        WorkHandler runner = new AgentRunner(
                chat((context, model, prompt) -> {
                    both.countDown();
                    Await.until("cancelled", context::cancelled);
                    throw new CancelledException("cancelled by its user");
                }),
                java.time.Duration.ofMinutes(1),
                cancels,
                recorder);
        Publishers one = new Publishers();
        Publishers other = new Publishers();
        Thread first = Thread.ofVirtual().start(() -> handle(runner, "m1", one));
        Thread second = Thread.ofVirtual().start(() -> handle(runner, "m2", other));
        Await.latch(both);
        cancels.cancel("m1");
        first.join();
        assertTrue(second.isAlive(), "cancelling one run leaves the other");
        cancels.cancel("m2");
        second.join();
        assertEquals(List.of("m1-user", "m1-error"), one.messages());
        assertEquals(List.of("m2-user", "m2-error"), other.messages());
    }

    private static void handle(WorkHandler runner, String id, Publisher events) {
        try {
            runner.handle(Context.background(), run(id), events);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aCancelForAnAgentRunReachesIt() {
        List<String> statuses = new CopyOnWriteArrayList<>();
        bus.broadcaster().subscribe("agent.*.events.*", message -> {
            AgentEvent event = AgentEvent.decode(message.body());
            if (event.eventType().equals(AgentEvent.STATUS)) {
                statuses.add(Json.parseObject(event.metadata()).string("status"));
            }
        });
        worker(
                (context, model, prompt) -> {
                    Await.until("cancelled", context::cancelled);
                    throw new CancelledException("cancelled by its user");
                },
                bus.workConsumer());
        bus.workQueue().enqueue(Context.background(), WorkKind.AGENT_RUN, run("m1"));
        Await.until("it runs", () -> statuses.contains("processing"));
        bus.broadcaster()
                .publish(
                        "agent.clerk.cancel",
                        Json.write(Json.object("agent_name", "clerk", "user_id", "ada", "message_id", "m1"))
                                .getBytes(StandardCharsets.UTF_8));
        Await.until("it ended", () -> statuses.contains("error"));
    }

    /** The seed's "panic is not recovered": the process is to end, once, and the consumer takes nothing more. */
    @Test
    void aFaultOfTheProgramWithALimitOfOneEndsTheProcessOnce() {
        AtomicInteger asked = new AtomicInteger();
        worker(
                (context, model, prompt) -> {
                    asked.incrementAndGet();
                    throw new IllegalStateException("a bug");
                },
                bus.workConsumer());
        bus.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, job("j1", true));
        Await.until("reported", () -> !bus.recorder().failures().isEmpty());
        bus.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, job("j2", true));
        assertEquals(1, asked.get());
        assertEquals(1, bus.recorder().failures().size());
        String reported = bus.recorder().failures().getFirst().getMessage();
        assertTrue(reported.contains("jobs.mcp-ci.new") && reported.contains("a bug"), reported);
    }

    @Test
    void aFaultOfTheProgramWithoutALimitIsCountedAndTheConsumerGoesOn() {
        AtomicInteger asked = new AtomicInteger();
        worker(
                (context, model, prompt) -> {
                    asked.incrementAndGet();
                    throw new IllegalStateException("a bug");
                },
                bus.workConsumer());
        for (int i = 1; i <= 2; i++) {
            int expected = i;
            bus.workQueue().enqueue(Context.background(), WorkKind.TASK, job("j" + i, false));
            Await.until("asked", () -> asked.get() == expected);
        }
        assertEquals(List.of(), bus.recorder().failures());
    }

    private static final class Publishers implements Publisher {
        private final List<Message> sent = new CopyOnWriteArrayList<>();

        @Override
        public void publish(Message message) {
            sent.add(message);
        }

        private List<String> messages() {
            return sent.stream()
                    .map(message -> AgentEvent.decode(message.body()))
                    .filter(event -> event.eventType().equals(AgentEvent.MESSAGE))
                    .map(AgentEvent::messageId)
                    .toList();
        }
    }

    private enum Subscriptions implements Subscription {
        NONE;

        @Override
        public void unsubscribe() {}

        @Override
        public void drain() {}
    }

    private record Config(int runs) implements AgentWorkerConfig {
        @Override
        public String name() {
            return "worker";
        }

        @Override
        public String frontend() {
            return "http://127.0.0.1:1";
        }

        @Override
        public String registration__token__file() {
            return "";
        }

        @Override
        public String api__key__file() {
            return "";
        }

        @Override
        public int max__agent__runs() {
            return runs;
        }

        @Override
        public int max__tasks() {
            return 0;
        }

        @Override
        public String[] mcp__commands() {
            return new String[] {"sh"};
        }

        @Override
        public String[] mcp__urls() {
            return new String[0];
        }

        @Override
        public long job__timeout__secs() {
            return 60;
        }

        @Override
        public long heartbeat__ms() {
            return 1_000;
        }

        @Override
        public Class<? extends Annotation> annotationType() {
            return AgentWorkerConfig.class;
        }
    }
}
