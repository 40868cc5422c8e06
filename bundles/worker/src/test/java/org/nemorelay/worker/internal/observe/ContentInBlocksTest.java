package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.Json;

/** The pieces of a streamed Chat Completion may be lists of blocks, as some providers send them. */
final class ContentInBlocksTest {
    private static String content(List<String> pieces) {
        StreamedAnswer answer = StreamedAnswer.of(ModelApi.OPENAI_CHAT);
        answer.data("{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}");
        pieces.forEach(piece -> answer.data("{\"choices\":[{\"index\":0,\"delta\":{\"content\":" + piece + "}}]}"));
        Object choice = ((List<?>) answer.answer().orElseThrow().get("choices")).getFirst();
        return Json.write(
                StreamedAnswer.objectOf(StreamedAnswer.objectOf(choice).get("message"))
                        .get("content"));
    }

    @Test
    void areKeptAll() {
        assertEquals(
                "[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"text\",\"text\":\"a@b.example\"},"
                        + "{\"type\":\"reference\",\"ids\":[1]},{\"type\":\"text\",\"text\":\"c\"}]",
                content(List.of(
                        "[{\"type\":\"thinking\",\"thinking\":\"hm\"}]",
                        "[{\"type\":\"text\",\"text\":\"a@b\"}]",
                        "[{\"type\":\"text\",\"text\":\".example\"},{\"type\":\"reference\",\"ids\":[1]}]",
                        "[{\"type\":\"text\",\"text\":\"c\"}]")));
    }

    @Test
    void textIsStillText() {
        assertEquals("\"ab\"", content(List.of("\"a\"", "\"b\"")));
    }
}
