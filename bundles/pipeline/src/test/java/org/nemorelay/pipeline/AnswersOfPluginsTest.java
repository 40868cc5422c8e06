package org.nemorelay.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;

/** What execution intercepts can say of an answer, and what they cannot. */
@Timeout(30)
class AnswersOfPluginsTest {
    private static final String JSON = "{\"id\": 1}";
    private static final String EVENT = "data: {\"choices\":[]}\n\n";

    private final Rig rig = new Rig();

    @AfterEach
    void close() {
        rig.close();
    }

    private void intercept(ExecutionIntercept intercept) {
        rig.executions(List.of(rig.stage("a", intercept, 1, true)));
    }

    private void changed(UnaryOperator<ModelResponse> change) {
        intercept((request, next) -> next.proceed(request).thenApply(change));
    }

    private static CompletionStage<ModelResponse> own(int status, String body) {
        return CompletableFuture.completedStage(ModelResponse.of(ModelApi.OPENAI_CHAT, status, JsonText.of(body)));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 99, 100, 101, 199, 204, 205, 304, 600, 1000})
    void aStatusThatHasNoBodyIsRefused(int status) throws Exception {
        intercept((request, next) -> own(status, JSON));
        assertEquals(500, rig.execute(Rig.json(), JSON).status());
        assertTrue(rig.log.getFirst().contains("status " + status), rig.log.toString());
        assertTrue(rig.sent.isEmpty());
        changed(response -> ((ModelResponse.Whole) response).withStatus(status));
        assertEquals(500, rig.execute(Rig.json(), JSON).status());
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 201, 299, 302, 400, 451, 529, 599})
    void everyOtherStatusIsSent(int status) throws Exception {
        intercept((request, next) -> own(status, JSON));
        Answer answer = rig.execute(Rig.json(), JSON);
        assertEquals(status, answer.status());
        assertEquals(JSON, Rig.text(answer));
    }

    @Test
    void anEmptyAnswerOfTheProviderStaysWhatItIs() throws Exception {
        changed(response -> response.withHeader("x-a", "1"));
        Answer answer = rig.executing(204, HeaderMap.of()).get(10, TimeUnit.SECONDS);
        assertEquals(204, answer.status());
        assertEquals(Optional.of("1"), answer.headers().first("x-a"));
    }

    @Test
    void lengthAndCodingFollowFromTheBytesWhateverAPluginSaysOfThem() throws Exception {
        changed(response -> response.withHeader("content-encoding", "br")
                .withHeader("content-length", "3")
                .withHeader("transfer-encoding", "chunked")
                .withHeader("connection", "close")
                .withHeader("x-a", "1"));
        Answer answer = rig.execute(Rig.json(), JSON);
        assertEquals(JSON, Rig.text(answer));
        assertEquals(Rig.json().with("x-a", "1").with("content-length", "9"), answer.headers());

        Answer stream = rig.execute(Rig.sse(), EVENT);
        assertEquals(EVENT, Rig.text(stream));
        assertEquals(Rig.sse().with("x-a", "1"), stream.headers());
    }

    @Test
    void theProvidersCodingStaysWithItsBytes() throws Exception {
        changed(response -> response.withHeaders(HeaderMap.of().with("x-a", "1")));
        Answer answer = rig.execute(Rig.json().with("content-encoding", "gzip"), "as it came");
        assertEquals("as it came", Rig.text(answer));
        assertEquals(Optional.of("gzip"), answer.headers().first("content-encoding"));
        assertEquals(Optional.of("10"), answer.headers().first("content-length"));
    }

    @Test
    void aStreamUnderAnInventedCodingIsStillReadByStreamIntercepts() throws Exception {
        changed(response -> response.withHeader("content-encoding", "br"));
        rig.streams(List.of(rig.stage(
                "s",
                (request, response) -> (event, out) -> {
                    out.emit(event);
                    return StreamHandler.DONE;
                },
                1,
                false)));
        Answer answer = rig.execute(Rig.sse(), EVENT);
        assertEquals(200, answer.status());
        assertEquals(EVENT, Rig.text(answer));
    }

    @Test
    void anOwnStreamHasNoLengthAndNoCoding() throws Exception {
        intercept((request, next) -> CompletableFuture.completedStage(
                ModelResponse.of(ModelApi.OPENAI_CHAT, List.of(StreamEvent.of(ModelApi.OPENAI_CHAT, JsonText.of("{}"))))
                        .withHeader("content-encoding", "gzip")
                        .withHeader("content-length", "1")));
        Answer answer = rig.execute(Rig.sse(), EVENT);
        assertEquals("data: {}\n\n", Rig.text(answer));
        assertEquals(HeaderMap.of().with("content-type", "text/event-stream"), answer.headers());
    }

    @Test
    void aRequestIsNotSentWhenItsAnswerIsDecided() throws Exception {
        ExecutionIntercept.Next[] kept = new ExecutionIntercept.Next[1];
        intercept((request, next) -> {
            kept[0] = next;
            return own(200, JSON);
        });
        assertEquals(JSON, Rig.text(rig.execute(Rig.json(), JSON)));
        CompletionException failure = assertThrows(
                CompletionException.class,
                () -> kept[0].proceed(Rig.request(Rig.BODY))
                        .toCompletableFuture()
                        .join());
        assertInstanceOf(IllegalStateException.class, failure.getCause());
        assertTrue(rig.sent.isEmpty());
    }

    @Test
    void whoReturnsNoStageIsToldSo() throws Exception {
        intercept((request, next) -> null);
        assertEquals(500, rig.execute(Rig.json(), JSON).status());
        assertTrue(rig.log.getFirst().endsWith("it returned null"), rig.log.toString());
    }
}
