package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.nemorelay.worker.internal.observe.RecordedForms.written;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.nemorelay.json.JsonObject;

/** Answers over the three APIs, whole and streamed, and what another implementation recorded of them. */
class AnnotatedAnswerTest {
    static List<JsonObject> recorded() throws IOException {
        return RecordedForms.of("answers.jsonl");
    }

    @ParameterizedTest
    @MethodSource("recorded")
    void isBroughtToTheSameForm(JsonObject one) {
        ModelApi api = ModelApi.ofPath(one.string("path")).orElseThrow();
        Map<String, Object> answer = one.object("data").values();
        if (one.has("stream")) {
            StreamedAnswer streamed = StreamedAnswer.of(api);
            one.strings("stream").forEach(streamed::data);
            Map<String, Object> together = streamed.answer().orElseThrow();
            assertEquals(written(answer), written(together));
            answer = together;
        }
        assertEquals(written(one.object("annotated").values()), written(Answers.annotated(api, answer)));
    }

    @Test
    void theTextsOfALegacyFunctionCallAndOfACustomOneComeInPieces() {
        assertEquals(
                "{\"arguments\":\"{\\\"a\\\":1}\",\"name\":\"f\"}",
                written(message(
                                "\"function_call\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\"\"}",
                                "\"function_call\":{\"arguments\":\":1}\"}")
                        .get("function_call")));
        assertEquals(
                "[{\"custom\":{\"input\":\"ab\",\"name\":\"f\"},\"id\":\"t\",\"type\":\"custom\"}]",
                written(message(
                                "\"tool_calls\":[{\"index\":0,\"id\":\"t\",\"type\":\"custom\",\"custom\":{\"name\":\"f\",\"input\":\"a\"}}]",
                                "\"tool_calls\":[{\"index\":0,\"custom\":{\"input\":\"b\"}}]")
                        .get("tool_calls")));
    }

    private static Map<String, Object> message(String... deltas) {
        StreamedAnswer streamed = StreamedAnswer.of(ModelApi.OPENAI_CHAT);
        for (String delta : deltas) {
            streamed.data("{\"choices\":[{\"index\":0,\"delta\":{" + delta + "}}]}");
        }
        List<?> choices = (List<?>) streamed.answer().orElseThrow().get("choices");
        return StreamedAnswer.objectOf(
                StreamedAnswer.objectOf(choices.getFirst()).get("message"));
    }
}
