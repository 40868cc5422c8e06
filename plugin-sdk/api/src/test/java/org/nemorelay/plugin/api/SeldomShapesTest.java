package org.nemorelay.plugin.api;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.JsonText;

/** What agents and providers seldom send, and plugins must see all the same. */
class SeldomShapesTest {
    private static ModelRequest request(ModelApi api, String body) {
        return ModelRequest.of(api, "/v1/x", HeaderMap.of(), JsonText.of(body));
    }

    private static String text(ModelRequest request) {
        return new String(request.body().bytes(), StandardCharsets.UTF_8);
    }

    @Test
    void whatAModelSaysBesideTheContentOfAChatCompletion() {
        ModelResponse.Whole answer = ModelResponse.of(
                ModelApi.OPENAI_CHAT,
                200,
                JsonText.of(
                        "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"no\",\"reasoning_content\":\"why\","
                                + "\"function_call\":{\"name\":\"ls\",\"arguments\":\"{\\\"p\\\":1}\"}}}]}"));
        assertEquals(
                List.of(
                        new Part.Other("refusal", "no", "/choices/0/message/refusal"),
                        new Part.Other("reasoning_content", "why", "/choices/0/message/reasoning_content"),
                        new Part.ToolUse(
                                "ls",
                                "ls",
                                Map.of("p", 1L),
                                "/choices/0/message/function_call",
                                "/choices/0/message/function_call/arguments")),
                answer.output());
        for (Part part : answer.output()) {
            assertEquals(true, answer.body().at(part.pointer()).isPresent(), part.pointer());
        }
    }

    /** As models send that reason in blocks of the content. */
    @Test
    void aPieceOfAChatCompletionMayBeAListOfBlocks() {
        String data = "{\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[]},"
                + "{\"type\":\"text\", \"text\":\"hi\"}, null]}}]}";
        StreamEvent event = StreamEvent.of(ModelApi.OPENAI_CHAT, JsonText.of(data));
        Part.Text text = new Part.Text("hi", "/choices/0/delta/content/1/text");
        assertEquals(List.of(text), event.texts());
        assertEquals(
                Optional.of(data.replace("\"hi\"", "\"ho\"")),
                event.withText(text, "ho").data());
    }

    @Test
    void reasoningIsNotTheModelsText() {
        for (String type : List.of("reasoning_text", "output_text")) {
            StreamEvent event = StreamEvent.of(
                    ModelApi.OPENAI_RESPONSES,
                    JsonText.of("{\"type\":\"response.content_part.done\",\"part\":{\"type\":\"" + type
                            + "\",\"text\":\"t\"}}"));
            assertEquals(type.equals("output_text") ? 1 : 0, event.texts().size(), type);
        }
    }

    @Test
    void functionsThatCameBeforeTools() {
        ModelRequest request = request(
                ModelApi.OPENAI_CHAT,
                "{\"messages\":[{\"role\":\"function\",\"name\":\"ls\",\"content\":\"out\"}], \"functions\":[{\"name\":\"a\"},"
                        + " {\"name\":\"ls\",\"description\":\"d\",\"parameters\":{}}]}");
        assertEquals(
                List.of(new Message("function", List.of(new Part.ToolResult("ls", "out", "/messages/0")))),
                request.messages());
        assertEquals(
                List.of(
                        new Tool("a", Optional.empty(), Optional.empty(), "/functions/0"),
                        new Tool("ls", Optional.of("d"), Optional.of(Map.of()), "/functions/1")),
                request.tools());
        assertEquals(
                text(request).replace("{\"name\":\"a\"}, ", ""),
                text(request.withoutTool(request.tools().getFirst())));
    }

    @Test
    void aMessageMoreWhereThereIsNoneYet() {
        String message = "{\"role\":\"user\",\"content\":\"x\"}";
        for (String body :
                List.of("{\"model\":\"m\"}", "{\"model\":\"m\",\"input\":null}", "{\"model\":\"m\",\"input\":[]}")) {
            assertEquals(
                    "{\"model\":\"m\",\"input\":[" + message + "]}",
                    text(request(ModelApi.OPENAI_RESPONSES, body).withMessage("user", "x")));
        }
        for (ModelApi api : List.of(ModelApi.OPENAI_CHAT, ModelApi.ANTHROPIC_MESSAGES)) {
            assertEquals(
                    "{\"model\":\"m\",\"messages\":[" + message + "]}",
                    text(request(api, "{\"model\":\"m\"}").withMessage("user", "x")));
        }
    }

    @Test
    void otherLinesOfAnEventKeepTheirBytesWhateverTheyHold() {
        byte[] raw = "\u00ef\u00bb\u00bf: caf\u00e9 \u00ff\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
                .getBytes(StandardCharsets.ISO_8859_1);
        StreamEvent event = StreamEvent.ofRaw(ModelApi.OPENAI_CHAT, raw);
        StreamEvent changed = event.withText(event.texts().getFirst(), "\u00e9");
        assertArrayEquals(
                ("\u00ef\u00bb\u00bf: caf\u00e9 \u00ff\ndata: {\"choices\":[{\"delta\":{\"content\":\"\u00c3\u00a9\"}}]}\n\n")
                        .getBytes(StandardCharsets.ISO_8859_1),
                changed.raw());
        assertEquals("\u00e9", changed.texts().getFirst().text());
    }
}
