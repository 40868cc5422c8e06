package org.nemorelay.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.Part;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.StreamOutput;

/** Execution and stream intercepts: wrap, hold, change, drop, add, end; and that they fail closed. */
@Timeout(30)
class AnswerStagesTest {
    private static final String ONE = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    private static final String TWO = ": ping\r\n\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\r\n\r\n";
    private static final String DONE = "data: [DONE]\n\n";

    private final Rig rig = new Rig();
    private final List<String> closed = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        rig.close();
    }

    private interface EachEvent {
        CompletionStage<Void> take(StreamEvent event, StreamOutput out) throws Exception;
    }

    private StreamHandler handler(EachEvent each, BiConsumer<StreamOutput, String> end) {
        return new StreamHandler() {
            @Override
            public CompletionStage<Void> onEvent(StreamEvent event, StreamOutput out) throws Exception {
                return each.take(event, out);
            }

            @Override
            public CompletionStage<Void> onEnd(StreamOutput out) {
                end.accept(out, "");
                return DONE;
            }

            @Override
            public void onClose() {
                closed.add("closed");
            }
        };
    }

    private Stage<StreamIntercept> stream(String plugin, int priority, EachEvent each) {
        return rig.stage(plugin, (request, response) -> handler(each, (out, end) -> {}), priority, false);
    }

    private static CompletionStage<Void> pass(StreamEvent event, StreamOutput out) {
        out.emit(event);
        return StreamHandler.DONE;
    }

    private static CompletionStage<Void> upper(StreamEvent event, StreamOutput out) {
        StreamEvent changed = event;
        for (Part.Text text : event.texts()) {
            changed = changed.withText(text, text.text().toUpperCase(java.util.Locale.ROOT));
        }
        out.emit(changed);
        return StreamHandler.DONE;
    }

    @Test
    void anUntouchedStreamIsTheSameBytes() throws Exception {
        rig.streams(List.of(stream("a", 1, AnswerStagesTest::pass), stream("b", 2, AnswerStagesTest::pass)));
        assertEquals(
                ONE + TWO + DONE + "data: unfinished",
                Rig.text(rig.execute(
                        Rig.sse(),
                        ONE.substring(0, 9),
                        ONE.substring(9) + TWO.substring(0, 9),
                        TWO.substring(9),
                        DONE,
                        "data: unfinished")));
    }

    @Test
    void everyCutOfAStreamGivesTheSameEvents() throws Exception {
        rig.streams(List.of(stream("a", 1, AnswerStagesTest::upper)));
        String whole = ONE + TWO + DONE;
        String wanted = whole.replace("\"a\"", "\"A\"").replace("\"b\"", "\"B\"");
        for (int cut = 1; cut < whole.length(); cut++) {
            assertEquals(
                    wanted, Rig.text(rig.execute(Rig.sse(), whole.substring(0, cut), whole.substring(cut))), "" + cut);
        }
    }

    @Test
    void eventsAreDroppedAddedAndTheStreamEnded() throws Exception {
        rig.streams(List.of(
                stream("a", 1, (event, out) -> {
                    if (event.data().isEmpty()) {
                        return StreamHandler.DONE;
                    }
                    out.emit(event);
                    if (event.texts().stream().anyMatch(text -> text.text().equals("b"))) {
                        out.emit(StreamEvent.of(ModelApi.OPENAI_CHAT, Optional.empty(), "[DONE]"));
                        out.end();
                    }
                    return StreamHandler.DONE;
                }),
                stream("b", 2, AnswerStagesTest::upper)));
        assertEquals(
                ONE.replace("\"a\"", "\"A\"") + "data:{\"choices\":[{\"delta\":{\"content\":\"B\"}}]}\r\n\r\n" + DONE,
                Rig.text(rig.execute(Rig.sse(), ONE + TWO + ONE, "WAIT")));
        rig.sources.getFirst().cancelled.get(10, TimeUnit.SECONDS);
        assertEquals(2, closed.size());
    }

    @Test
    void whatIsHeldBackComesAtTheEnd() throws Exception {
        List<StreamEvent> held = new ArrayList<>();
        rig.streams(List.of(rig.stage(
                "a",
                (request, response) -> handler(
                        (event, out) -> {
                            held.add(event);
                            return StreamHandler.DONE;
                        },
                        (out, end) -> held.forEach(out::emit)),
                1,
                false)));
        assertEquals(ONE + DONE, Rig.text(rig.execute(Rig.sse(), ONE, DONE)));
    }

    @Test
    void anEventThatHasToWaitLetsTheEarlierOnesGo() throws Exception {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        rig.streams(List.of(stream("a", 1, (event, out) -> {
            if (event.data().equals(Optional.of("[DONE]"))) {
                return gate.thenRun(() -> out.emit(event));
            }
            out.emit(event);
            return StreamHandler.DONE;
        })));
        Answer answer = rig.execute(Rig.sse(), ONE + DONE);
        assertEquals(ONE, new String(answer.body().read().toCompletableFuture().get(10, TimeUnit.SECONDS)));
        CompletableFuture<byte[]> next = answer.body().read().toCompletableFuture();
        assertFalse(next.isDone());
        gate.complete(null);
        assertEquals(DONE, new String(next.get(10, TimeUnit.SECONDS)));
    }

    @Test
    void aHandlerThatFailsEndsTheStreamWithAnErrorOfTheApi() throws Exception {
        rig.streams(List.of(stream("bad", 1, (event, out) -> {
            if (event.data().equals(Optional.of("[DONE]"))) {
                throw new IllegalStateException("secret");
            }
            return pass(event, out);
        })));
        assertEquals(
                ONE
                        + "data: {\"error\":{\"code\":\"nemo_relay_gateway_error\",\"message\":\"the plugin \\\"bad\\\""
                        + " failed, so the answer ends here\",\"param\":null,\"type\":\"nemo_relay_gateway_error\"}}\n\n",
                Rig.text(rig.execute(Rig.sse(), ONE + DONE + ONE, "WAIT")));
        rig.sources.getFirst().cancelled.get(10, TimeUnit.SECONDS);
    }

    /** Fail closed: nothing of the answer goes on behind whatever went wrong. */
    @Test
    void whateverAHandlerFailsWithEndsTheStream() throws Exception {
        List<EachEvent> wrong = List.of(
                (event, out) -> null,
                (event, out) -> CompletableFuture.failedStage(new IllegalStateException("secret")),
                (event, out) -> {
                    throw new StackOverflowError();
                },
                (event, out) -> {
                    throw new OutOfMemoryError();
                },
                (event, out) -> {
                    throw new NoClassDefFoundError("x");
                },
                (event, out) -> {
                    throw new Error("of its own making");
                },
                (event, out) -> {
                    CompletableFuture<Void> cancelled = new CompletableFuture<>();
                    cancelled.cancel(true);
                    return cancelled;
                },
                (event, out) -> CompletableFuture.supplyAsync(() -> {
                    throw new StackOverflowError();
                }));
        for (EachEvent each : wrong) {
            rig.streams(List.of(stream("bad", 1, each), stream("behind", 2, AnswerStagesTest::pass)));
            String text = Rig.text(rig.execute(Rig.sse(), ONE, "WAIT"));
            assertTrue(text.startsWith("data: {\"error\":") && text.contains("the plugin \\\"bad\\\" failed"), text);
            assertFalse(text.contains("secret"), text);
            rig.sources.getLast().cancelled.get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void whateverAnInterceptOfStreamsOpensWrongIsA500() throws Exception {
        List<StreamIntercept> wrong = List.of(
                (request, response) -> null,
                (request, response) -> {
                    throw new IllegalStateException("secret");
                },
                (request, response) -> {
                    throw new Error("of its own making");
                });
        for (StreamIntercept each : wrong) {
            rig.streams(List.of(rig.stage("bad", each, 1, false)));
            Answer answer = rig.execute(Rig.sse(), ONE, "WAIT");
            assertEquals(500, answer.status());
            String text = Rig.text(answer);
            assertTrue(
                    text.contains("the plugin \\\"bad\\\" failed, so the provider's answer is withheld (the request was"
                            + " sent)"),
                    text);
            rig.sources.getLast().cancelled.get(10, TimeUnit.SECONDS);
        }
    }

    /** What it emits after its call it emits in vain, on its own thread's account. */
    @Test
    void anEventThatIsEmittedAfterItsCallGoesNowhere() throws Exception {
        CompletableFuture<StreamOutput> kept = new CompletableFuture<>();
        rig.streams(List.of(stream("late", 1, (event, out) -> {
            kept.complete(out);
            return pass(event, out);
        })));
        assertEquals(ONE, Rig.text(rig.execute(Rig.sse(), ONE)));
        StreamOutput late = kept.get();
        assertThrows(
                IllegalStateException.class,
                () -> late.emit(StreamEvent.of(ModelApi.OPENAI_CHAT, Optional.empty(), "x")));
    }

    /** Types of later versions, comments, retries and what is no JSON survive beside events that a plugin changes. */
    @Test
    void whatNobodyKnowsSurvivesBesideWhatIsChanged() throws Exception {
        String strange = "event: of_later_versions\nid: 7\ndata: {\"type\":\"of_later_versions\", \"x\" :1.0}\n\n"
                + ": comment\n\nretry: 3\n\ndata: no json\n\ndata\n\nfield: x\n\n";
        rig.streams(List.of(stream("a", 1, AnswerStagesTest::upper)));
        assertEquals(
                strange + ONE.replace("\"a\"", "\"A\"") + strange + DONE,
                Rig.text(rig.execute(Rig.sse(), strange + ONE, strange, DONE)));
    }

    @Test
    void aStreamThatBreaksOffBreaksOffBehindItsHandlers() {
        rig.streams(List.of(stream("a", 1, AnswerStagesTest::pass)));
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> Rig.text(rig.execute(Rig.sse(), ONE, "BREAK")));
        assertTrue(failure.getCause() instanceof IOException, "" + failure.getCause());
    }

    @Test
    void anAnswerThatIsNoStreamPassesStreamInterceptsBy() throws Exception {
        rig.streams(List.of(stream("bad", 1, (event, out) -> {
            throw new IllegalStateException();
        })));
        Answer answer = rig.execute(Rig.json(), "{\"error\"", ":1}");
        assertEquals("{\"error\":1}", Rig.text(answer));
        assertEquals(Rig.json(), answer.headers());
    }

    // ---- execution intercepts

    private Stage<ExecutionIntercept> execution(String plugin, int priority, ExecutionIntercept intercept) {
        return rig.stage(plugin, intercept, priority, true);
    }

    @Test
    void theLowestPriorityIsTheOutermost() throws Exception {
        List<String> order = new CopyOnWriteArrayList<>();
        ExecutionIntercept inner = (request, next) -> {
            order.add("inner");
            return next.proceed(request.withModel("n")).thenApply(response -> {
                order.add("inner back");
                return response.withHeader("x-inner", "1");
            });
        };
        ExecutionIntercept outer = (request, next) -> {
            order.add("outer");
            return next.proceed(request).thenApply(response -> {
                order.add("outer back");
                ModelResponse.Whole whole = (ModelResponse.Whole) response;
                return whole.withText((Part.Text) whole.output().getFirst(), "bye");
            });
        };
        rig.executions(List.of(execution("inner", 2, inner), execution("outer", 1, outer)));
        Answer answer = rig.execute(
                Rig.json().with("content-length", "99"), "{\"choices\":[{\"message\":", "{\"content\":\"hi\"}}] }");
        assertEquals(List.of("outer", "inner", "inner back", "outer back"), order);
        assertEquals("{\"choices\":[{\"message\":{\"content\":\"bye\"}}] }", Rig.text(answer));
        assertEquals(Optional.of("44"), answer.headers().first("content-length"));
        assertEquals(Optional.of("1"), answer.headers().first("x-inner"));
        assertEquals(Optional.of("n"), rig.sent.getFirst().model());
    }

    @Test
    void anUntouchedWholeAnswerKeepsItsBytesAndCoding() throws Exception {
        rig.executions(List.of(execution("a", 1, (request, next) -> next.proceed(request))));
        Answer answer = rig.execute(Rig.json().with("content-encoding", "gzip"), "not ", "gzip");
        assertEquals("not gzip", Rig.text(answer));
        assertEquals(Optional.of("gzip"), answer.headers().first("content-encoding"));
    }

    @Test
    void anInterceptMayAnswerWithoutTheProvider() throws Exception {
        rig.executions(List.of(execution(
                        "cache",
                        1,
                        (request, next) -> CompletableFuture.completedStage(ModelResponse.of(
                                ModelApi.OPENAI_CHAT,
                                List.of(StreamEvent.of(
                                        ModelApi.OPENAI_CHAT,
                                        JsonText.of("{\"choices\":[{\"delta\":{\"content\":\"c\"}}]}"))))))))
                .streams(List.of(stream("a", 1, AnswerStagesTest::upper)));
        Answer answer = rig.execute(Rig.json(), "unused");
        assertEquals("data: {\"choices\":[{\"delta\":{\"content\":\"C\"}}]}\n\n", Rig.text(answer));
        assertEquals(0, rig.sent.size());
    }

    @Test
    void anInterceptMayTryAgainAndTheFirstAnswerIsGivenUp() throws Exception {
        rig.executions(List.of(execution(
                "retry",
                1,
                (request, next) ->
                        next.proceed(request).thenCompose(first -> next.proceed(request.withModel("other"))))));
        assertEquals(ONE, Rig.text(rig.execute(Rig.sse(), ONE)));
        assertEquals(2, rig.sent.size());
        assertTrue(rig.sources.getFirst().cancelled.isDone());
        assertFalse(rig.sources.get(1).cancelled.isDone());
    }

    @Test
    void aStreamGoesThroughAnExecutionIntercept() throws Exception {
        rig.executions(List.of(execution(
                "a",
                1,
                (request, next) -> next.proceed(request)
                        .thenApply(response -> ((ModelResponse.Streamed) response)
                                .through(handler(AnswerStagesTest::upper, (out, end) -> {}))))));
        assertEquals(ONE.replace("\"a\"", "\"A\""), Rig.text(rig.execute(Rig.sse(), ONE)));
    }

    @Test
    void theProvidersFailurePassesThroughAndThePluginsIsA500() throws Exception {
        ExecutionIntercept passes = (request, next) -> next.proceed(request);
        rig.executions(List.of(execution("a", 1, passes), execution("b", 2, passes)));
        IOException down = new IOException("down");
        ExecutionException failure = assertThrows(
                ExecutionException.class,
                () -> rig.executing(request -> CompletableFuture.failedStage(down))
                        .get(10, TimeUnit.SECONDS));
        assertEquals(down, failure.getCause());
        rig.executions(List.of(execution("a", 1, passes), execution("b", 2, (request, next) -> {
            throw new IllegalStateException();
        })));
        Answer answer = rig.execute(Rig.json(), "{}");
        assertEquals(500, answer.status());
        assertTrue(Rig.text(answer).contains("the plugin \\\"b\\\" failed, so the request is not sent"));
        rig.executions(List.of(execution(
                "b",
                1,
                (request, next) -> next.proceed(request).thenApply(response -> {
                    throw new IllegalStateException();
                }))));
        answer = rig.execute(Rig.json(), "{}");
        assertEquals(500, answer.status());
        assertTrue(
                Rig.text(answer)
                        .contains(
                                "the plugin \\\"b\\\" failed, so the provider's answer is withheld (the request was sent)"),
                Rig.text(answer));
    }

    @Test
    void whateverAnExecutionInterceptFailsWithIsA500() throws Exception {
        List<ExecutionIntercept> wrong = List.of(
                (request, next) -> null,
                (request, next) -> CompletableFuture.completedStage(null),
                (request, next) -> next.proceed(request).thenApply(response -> null),
                (request, next) -> next.proceed(request).thenApply(response -> {
                    throw new StackOverflowError();
                }),
                (request, next) -> {
                    throw new Error("of its own making");
                },
                (request, next) -> {
                    CompletableFuture<ModelResponse> cancelled = new CompletableFuture<>();
                    cancelled.cancel(true);
                    return cancelled;
                });
        for (ExecutionIntercept each : wrong) {
            rig.executions(List.of(execution("bad", 1, each)));
            Answer answer = rig.execute(Rig.json(), "{\"secret\":1}");
            assertEquals(500, answer.status());
            String text = Rig.text(answer);
            assertTrue(text.contains("the plugin \\\"bad\\\" failed") && !text.contains("secret"), text);
        }
    }

    @Test
    void aBlockingInterceptWorksToo() throws Exception {
        rig.executions(List.of(execution(
                "a",
                1,
                (request, next) -> CompletableFuture.completedStage(
                        next.proceed(request).toCompletableFuture().get()))));
        List<CompletableFuture<Answer>> all = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            all.add(rig.executing(200, Rig.json(), "{}"));
        }
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
        for (CompletableFuture<Answer> each : all) {
            assertEquals("{}", Rig.text(each.get()));
        }
    }

    @Test
    void theClockStandsStillWhileTheProviderAnswers() throws Exception {
        CompletableFuture<Answer> provider = new CompletableFuture<>();
        rig.executions(List.of(execution("a", 1, (request, next) -> next.proceed(request))));
        CompletableFuture<Answer> answer = rig.executing(request -> provider);
        // Another call, whose clock does not stand still, shows that the time was looked at.
        CompletableFuture<ModelResponse> never = new CompletableFuture<>();
        rig.executions(List.of(execution("b", 1, (request, next) -> never)));
        CompletableFuture<Answer> late = rig.executing(200, Rig.json(), "{}");
        while (!late.isDone()) {
            rig.clock.addAndGet(TimeUnit.HOURS.toNanos(1));
            java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
        }
        assertEquals(500, late.get().status());
        assertFalse(answer.isDone());
        provider.complete(new Answer(200, Rig.json(), ByteSource.of("{}".getBytes())));
        assertEquals(200, answer.get(10, TimeUnit.SECONDS).status());
    }

    @Test
    void anAnswerTooLargeToHoldIsA502() throws Exception {
        rig.executions(List.of(execution("a", 1, (request, next) -> next.proceed(request))));
        Answer answer = rig.execute(Rig.json(), "x".repeat(9_999), "xx");
        assertEquals(502, answer.status());
        assertTrue(Rig.text(answer).contains("max_passthrough_body_bytes"));
    }
}
