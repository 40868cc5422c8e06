package org.nemorelay.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;

/** What a plugin hands over that is no answer and no event: it is the plugin's failure, and the agent is told at once. */
@Timeout(30)
class AnswersThatAreNoneTest {
    private static final String EVENT = "data: {\"choices\":[]}\n\n";

    private final Rig rig = new Rig();

    @AfterEach
    void close() {
        rig.close();
    }

    /** One that the plugin implements by itself. */
    @SuppressWarnings("unchecked")
    private static <R extends ModelResponse> R own(Class<R> type, Map<String, Object> answers) {
        return (R) Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> switch (method.getName()) {
                    case "status" -> 200;
                    case "api" -> ModelApi.OPENAI_CHAT;
                    default -> answers.get(method.getName());
                });
    }

    static Stream<ExecutionIntercept> noAnswers() {
        return Stream.of(
                (request, next) ->
                        CompletableFuture.completedStage(ModelResponse.of(request.api(), 200, (JsonText) null)),
                (request, next) -> CompletableFuture.completedStage(ModelResponse.of(null, List.of())),
                (request, next) -> CompletableFuture.completedStage(
                        ModelResponse.of(request.api(), List.of()).withHeaders(null)),
                (request, next) -> next.proceed(request).thenApply(response -> response.withHeaders(null)),
                (request, next) -> next.proceed(request)
                        .thenApply(response -> response instanceof ModelResponse.Whole whole
                                ? whole.withBody(null)
                                : ((ModelResponse.Streamed) response).through(null)),
                (request, next) -> next.proceed(null),
                (request, next) -> CompletableFuture.completedStage(own(ModelResponse.Whole.class, Map.of())),
                (request, next) -> CompletableFuture.completedStage(
                        own(ModelResponse.Whole.class, Map.of("body", JsonText.of("{}")))),
                (request, next) -> CompletableFuture.completedStage(own(ModelResponse.Streamed.class, Map.of())),
                (request, next) -> CompletableFuture.completedStage(own(ModelResponse.class, Map.of())));
    }

    @ParameterizedTest
    @MethodSource("noAnswers")
    void whatIsNoAnswerIsThePluginsFailure(ExecutionIntercept intercept) throws Exception {
        rig.executions(List.of(rig.stage("a", intercept, 1, true)));
        for (HeaderMap head : List.of(Rig.json(), Rig.sse())) {
            Answer answer = rig.execute(head, EVENT);
            assertEquals(500, answer.status());
            assertTrue(Rig.text(answer).contains("the plugin \\\"a\\\" failed"), Rig.text(answer));
            assertTrue(rig.log.getLast().startsWith("plugin_failed plugin a failed: "), rig.log.toString());
        }
    }

    /** The log has one line of it, whatever it is. */
    @Test
    void whatAPluginThrowsIsAPartOfALine() throws Exception {
        ExecutionIntercept loud = (request, next) -> {
            throw new IllegalStateException("\n\u001b[2Jover " + "x".repeat(1_000_000));
        };
        rig.executions(List.of(rig.stage("a", loud, 1, true)));
        assertEquals(500, rig.execute(Rig.json(), EVENT).status());
        String said = "java.lang.IllegalStateException:  [2Jover ";
        assertEquals(
                "plugin_failed plugin a failed: " + said + "x".repeat(500 - said.length()) + "…", rig.log.getLast());
    }

    @Test
    void anAnswerOfAClassOfThePluginsOwnIsAsGoodAsAnother() throws Exception {
        ModelResponse.Whole own =
                own(ModelResponse.Whole.class, Map.of("body", JsonText.of("{}"), "headers", HeaderMap.of()));
        rig.executions(List.of(
                rig.stage("a", (request, next) -> CompletableFuture.<ModelResponse>completedStage(own), 1, true)));
        assertEquals("{}", Rig.text(rig.execute(Rig.json(), EVENT)));
    }

    /** Answers every request as the first was. */
    private static ExecutionIntercept keepingTheFirst() {
        AtomicReference<ModelResponse> kept = new AtomicReference<>();
        return (request, next) -> kept.get() != null
                ? CompletableFuture.completedStage(kept.get())
                : next.proceed(request).thenApply(response -> {
                    kept.set(response);
                    return response;
                });
    }

    /** A stream is read once: by the agent that it came for. */
    @Test
    void theStreamOfAnotherRequestIsNoAnswer() throws Exception {
        rig.executions(List.of(rig.stage("a", keepingTheFirst(), 1, true)));
        assertEquals(EVENT, Rig.text(rig.execute(Rig.sse(), EVENT)));
        Answer second = rig.execute(Rig.sse(), EVENT);
        assertEquals(500, second.status());
        assertTrue(rig.log.getLast().contains("the stream of another request"), rig.log.toString());
    }

    /** An answer that is here as a whole may be given again. */
    @Test
    void aWholeAnswerOfAnotherRequestIsOne() throws Exception {
        rig.executions(List.of(rig.stage("a", keepingTheFirst(), 1, true)));
        assertEquals("{\"a\":1}", Rig.text(rig.execute(Rig.json(), "{\"a\":1}")));
        assertEquals("{\"a\":1}", Rig.text(rig.execute(Rig.json(), "{}")));
        assertEquals(1, rig.sent.size());
    }

    /** The outer one hands on what the inner one made. */
    @Test
    void aStreamOfThePluginsOwnPassesTheOthers() throws Exception {
        ExecutionIntercept outer = (request, next) -> next.proceed(request)
                .thenApply(response -> ((ModelResponse.Streamed) response).through((event, out) -> {
                    out.emit(event);
                    out.emit(event);
                    return StreamHandler.DONE;
                }));
        ExecutionIntercept inner = (request, next) -> CompletableFuture.completedStage(
                ModelResponse.of(request.api(), List.of(StreamEvent.of(request.api(), JsonText.of("{}")))));
        rig.executions(List.of(rig.stage("a", outer, 1, true), rig.stage("b", inner, 2, true)));
        assertEquals("data: {}\n\ndata: {}\n\n", Rig.text(rig.execute(Rig.json(), EVENT)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatIsNoEventIsThePluginsFailure(boolean atEnd) throws Exception {
        StreamIntercept emits = (request, response) -> new StreamHandler() {
            @Override
            public CompletableFuture<Void> onEvent(StreamEvent event, org.nemorelay.plugin.api.StreamOutput out) {
                out.emit(atEnd ? event : null);
                return CompletableFuture.completedFuture(null);
            }

            @Override
            public CompletableFuture<Void> onEnd(org.nemorelay.plugin.api.StreamOutput out) {
                out.emit(StreamEvent.ofRaw(ModelApi.OPENAI_CHAT, null));
                return CompletableFuture.completedFuture(null);
            }
        };
        rig.streams(List.of(rig.stage("a", emits, 1, false)));
        String text = Rig.text(rig.execute(Rig.sse(), EVENT, EVENT));
        assertTrue(text.startsWith(atEnd ? EVENT + EVENT + "data: {" : "data: {\"error\""), text);
        assertTrue(text.contains("the plugin \\\"a\\\" failed, so the answer ends here"), text);
    }
}
