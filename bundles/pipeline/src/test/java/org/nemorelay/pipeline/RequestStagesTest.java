package org.nemorelay.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;

/** Guardrails and request intercepts: order, what they see, and that they fail closed. */
@Timeout(30)
class RequestStagesTest {
    private final Rig rig = new Rig();
    private final List<String> called = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        rig.close();
    }

    private Stage<RequestIntercept> header(String plugin, int priority, String name, String value) {
        return rig.stage(
                plugin,
                request -> {
                    called.add(plugin);
                    return CompletableFuture.completedStage(request.withHeader(name, value));
                },
                priority,
                false);
    }

    private Stage<RequestGuardrail> guardrail(String plugin, int priority, Decision decision) {
        return rig.stage(
                plugin,
                request -> {
                    called.add(plugin);
                    return CompletableFuture.completedStage(decision);
                },
                priority,
                false);
    }

    @Test
    void interceptsRunByPriorityThenName() throws Exception {
        ModelRequest changed = rig.intercepts(
                        List.of(header("c", 5, "x-a", "c"), header("b", 1, "x-a", "b"), header("a", 5, "x-b", "a")))
                .rewritten(Rig.request(Rig.BODY));
        assertEquals(List.of("b", "a", "c"), called);
        assertEquals("[x-a, content-type, x-b]", changed.headers().toString());
        assertEquals(Optional.of("c"), changed.headers().first("x-a"));
        assertEquals(JsonText.of(Rig.BODY), changed.body());
    }

    @Test
    void theFirstDenialStandsBeforeAnyIntercept() throws Exception {
        Clearance clearance = rig.guardrails(List.of(
                        guardrail("z", 3, Decision.deny("late")),
                        guardrail("b", 2, Decision.deny("not this model")),
                        guardrail("a", 1, Decision.allow())))
                .intercepts(List.of(header("i", 0, "x", "y")))
                .admit(Rig.request(Rig.BODY));
        assertEquals(List.of("a", "b"), called);
        assertEquals(
                new Clearance.Verdict.Refused(
                        new Refusal(403, "guardrail rejected: not this model", Optional.of("not this model"))),
                clearance.verdict());
        assertEquals(
                List.of(Optional.empty(), Optional.of("not this model")),
                clearance.checks().stream().map(Clearance.Check::denial).toList());
    }

    @Test
    void aRefusalIsInEachApisForm() {
        Refusal refusal = Refusal.denied("no");
        assertEquals(
                "{\"error\":{\"message\":\"guardrail rejected: no\",\"reason\":\"no\","
                        + "\"type\":\"nemo_relay_guardrail_rejected\"},\"type\":\"error\"}",
                refusal.json(ModelApi.ANTHROPIC_MESSAGES));
        assertEquals(
                "{\"error\":{\"code\":\"nemo_relay_guardrail_rejected\",\"message\":\"guardrail rejected: no\","
                        + "\"param\":null,\"reason\":\"no\",\"type\":\"nemo_relay_guardrail_rejected\"}}",
                refusal.json(ModelApi.OPENAI_CHAT));
        assertTrue(new String(
                        Refusal.error(500, "m").event(ModelApi.OPENAI_RESPONSES).raw(), StandardCharsets.UTF_8)
                .startsWith("event: error\ndata: {\"type\":\"error\""));
    }

    @Test
    void theBodyIsThereForThoseWhoAskOnly() throws Exception {
        List<Boolean> bodies = new ArrayList<>();
        RequestIntercept looks = request -> {
            bodies.add(request.hasBody());
            return CompletableFuture.completedStage(request.hasBody() ? request.withModel("other") : request);
        };
        ModelRequest changed = rig.intercepts(List.of(rig.stage("a", looks, 1, true), rig.stage("b", looks, 2, false)))
                .rewritten(Rig.request(Rig.BODY));
        assertEquals(List.of(true, false), bodies);
        assertEquals(
                Rig.BODY.replace("\"m\"", "\"other\""),
                new String(changed.body().bytes(), StandardCharsets.UTF_8));
    }

    @Test
    void theSameRequestPassesUntouched() throws Exception {
        ModelRequest request = Rig.request(Rig.BODY);
        assertSame(
                request,
                rig.intercepts(List.of(rig.stage("a", CompletableFuture::completedStage, 1, true)))
                        .rewritten(request));
    }

    @Test
    void whatGoesWrongRefusesTheRequest() throws Exception {
        List<RequestIntercept> wrong = List.of(
                request -> {
                    throw new IllegalArgumentException("secret");
                },
                request -> CompletableFuture.failedStage(new IllegalArgumentException("secret")),
                request -> CompletableFuture.completedStage(null),
                request -> null,
                request -> {
                    throw new NoClassDefFoundError("x");
                },
                request -> {
                    throw new StackOverflowError();
                },
                request -> {
                    throw new OutOfMemoryError();
                },
                request -> {
                    throw new Error("of its own making");
                },
                request -> {
                    throw new IllegalStateException() {
                        private static final long serialVersionUID = 1L;

                        @Override
                        public String toString() {
                            throw new IllegalStateException("secret");
                        }
                    };
                },
                request -> {
                    CompletableFuture<ModelRequest> cancelled = new CompletableFuture<>();
                    cancelled.cancel(true);
                    return cancelled;
                },
                request -> CompletableFuture.supplyAsync(() -> {
                    throw new StackOverflowError();
                }),
                request -> new CompletableFuture<>() {
                    @Override
                    public CompletableFuture<ModelRequest> toCompletableFuture() {
                        throw new UnsupportedOperationException("secret");
                    }
                },
                request -> CompletableFuture.completedStage(request.withBody(JsonText.of("{\"a\":"))),
                request -> CompletableFuture.completedStage(
                        request.withBody(request.body().with("/stream", false))),
                request -> CompletableFuture.completedStage(request.withHeader("content-length", "5")),
                request -> CompletableFuture.completedStage(
                        ModelRequest.ofHead(ModelApi.OPENAI_RESPONSES, request.path(), request.headers())));
        for (RequestIntercept each : wrong) {
            Refusal refusal = rig.intercepts(List.of(rig.stage("bad", each, 1, true)))
                    .refused(Rig.request(Rig.BODY))
                    .orElseThrow();
            assertEquals(Refusal.error(500, "the plugin \"bad\" failed, so the request is not sent"), refusal);
        }
        assertEquals(wrong.size(), rig.log.size(), rig.log.toString());
    }

    /** What it fails with leaves nothing behind: its share has room for the next call. */
    @Test
    void anErrorOfAPluginsOwnMakingTakesNoRoom() throws Exception {
        Stage<RequestIntercept> bad = rig.stage(
                "bad",
                request -> {
                    throw new Error("of its own making");
                },
                1,
                true);
        for (int i = 0; i < 20; i++) {
            assertTrue(
                    rig.intercepts(List.of(bad)).refused(Rig.request(Rig.BODY)).isPresent());
        }
        assertEquals(0, bad.share().running());
    }

    /** The first completion counts, from whatever thread it comes. */
    @Test
    void aStageIsCompletedOnceFromAnyThread() throws Exception {
        CompletableFuture<ModelRequest> stage = new CompletableFuture<>();
        ModelRequest request = Rig.request(Rig.BODY);
        Thread other = new Thread(() -> {
            stage.complete(request.withHeader("x", "first"));
            stage.complete(request.withHeader("x", "second"));
            stage.completeExceptionally(new IllegalStateException("late"));
        });
        ModelRequest rewritten = rig.intercepts(List.of(rig.stage(
                        "a",
                        asked -> {
                            other.start();
                            return stage;
                        },
                        1,
                        true)))
                .rewritten(request);
        assertEquals(java.util.Optional.of("first"), rewritten.headers().first("x"));
        other.join();
    }

    @Test
    void aGuardrailThatGoesWrongRefusesTheRequest() throws Exception {
        List<RequestGuardrail> wrong = List.of(
                request -> {
                    throw new IllegalArgumentException("secret");
                },
                request -> CompletableFuture.failedStage(new IllegalArgumentException("secret")),
                request -> CompletableFuture.completedStage(null),
                request -> null,
                request -> {
                    throw new NoClassDefFoundError("x");
                });
        for (RequestGuardrail each : wrong) {
            called.clear();
            Clearance clearance = rig.guardrails(List.of(rig.stage("bad", each, 1, false)))
                    .intercepts(List.of(header("i", 0, "x", "y")))
                    .admit(Rig.request(Rig.BODY));
            assertEquals(
                    new Clearance.Verdict.Refused(
                            Refusal.error(500, "the plugin \"bad\" failed, so the request is not sent")),
                    clearance.verdict());
            assertEquals(List.of(), called);
        }
    }

    @Test
    void aBodyCannotBeChangedByOneWhoDidNotAskForIt() throws Exception {
        RequestIntercept blind = request -> CompletableFuture.completedStage(request.withBody(JsonText.of("{}")));
        ModelRequest head = ModelRequest.ofHead(ModelApi.OPENAI_CHAT, "/v1/chat/completions", HeaderMap.of());
        assertTrue(rig.intercepts(List.of(rig.stage("bad", blind, 1, false)))
                .refused(head)
                .isPresent());
    }

    @Test
    void aStageThatIsLateIsGivenUpAndItsThreadInterrupted() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch entered = new CountDownLatch(1);
        rig.intercepts(List.of(rig.stage(
                "slow",
                request -> {
                    entered.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        interrupted.countDown();
                    }
                    return CompletableFuture.completedStage(request);
                },
                1,
                false)));
        CompletableFuture<Optional<Refusal>> refusal = CompletableFuture.supplyAsync(() -> {
            try {
                return rig.refused(Rig.request(Rig.BODY));
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        assertTrue(entered.await(10, TimeUnit.SECONDS));
        assertFalse(refusal.isDone());
        rig.clock.addAndGet(TimeUnit.SECONDS.toNanos(5));
        assertEquals(
                "the plugin \"slow\" took too long, so the request is not sent",
                refusal.get(10, TimeUnit.SECONDS).orElseThrow().message());
        assertTrue(interrupted.await(10, TimeUnit.SECONDS));
    }

    @Test
    void aPluginThatBlocksHoldsUpNobodyElse() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        Stage<RequestIntercept> blocks = rig.stage(
                "blocks",
                request -> {
                    release.await();
                    return CompletableFuture.completedStage(request);
                },
                1,
                false);
        Pipeline stuck =
                new Pipeline(new Stages(List.of(), List.of(blocks), List.of(), List.of(), List.of(), List.of()), 10);
        List<CompletableFuture<Clearance>> held = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            held.add(stuck.admit(Rig.request(Rig.BODY)));
        }
        // Eight run, 256 wait, the rest is told while they do.
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (held.stream().filter(CompletableFuture::isDone).count() < 300 - 8 - 256) {
            assertTrue(System.nanoTime() < end, "those beyond the limit were not refused");
            Thread.onSpinWait();
        }
        rig.intercepts(List.of(header("other", 1, "x", "y")));
        assertEquals(
                Optional.of("y"), rig.rewritten(Rig.request(Rig.BODY)).headers().first("x"));
        release.countDown();
        CompletableFuture.allOf(held.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
    }

    @Test
    void anAsynchronousStageHoldsNoThread() throws Exception {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        Stage<RequestIntercept> waits = rig.stage("waits", request -> gate.thenApply(done -> request), 1, false);
        Pipeline pipeline =
                new Pipeline(new Stages(List.of(), List.of(waits), List.of(), List.of(), List.of(), List.of()), 10);
        List<CompletableFuture<Clearance>> held = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            held.add(pipeline.admit(Rig.request(Rig.BODY)));
        }
        gate.complete(null);
        CompletableFuture.allOf(held.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
        for (CompletableFuture<Clearance> each : held) {
            assertTrue(each.get().verdict() instanceof Clearance.Verdict.Go);
        }
    }
}
