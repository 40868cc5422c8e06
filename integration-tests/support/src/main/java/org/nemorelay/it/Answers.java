package org.nemorelay.it;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.nemorelay.it.MockProvider.Responder;
import org.nemorelay.json.Json;

/** Streams of the three provider APIs with a text that a test knows. */
public final class Answers {
    private Answers() {}

    public static Responder anthropicStream(String text) {
        return (request, reply) -> stream(reply, anthropicText(text));
    }

    /** First a call of the tool {@code Bash}, then, once its result is in the conversation, the text. */
    public static Responder anthropicToolThenText(String command, String text) {
        return (request, reply) -> {
            boolean answered = request.bodyText().contains("\"tool_result\"");
            stream(reply, answered ? anthropicText(text) : anthropicTool(command));
        };
    }

    public static Responder responsesStream(String text) {
        return (request, reply) -> {
            Map<String, Object> part = Map.of("type", "output_text", "text", text, "annotations", List.of());
            Map<String, Object> item = Map.of(
                    "type",
                    "message",
                    "id",
                    "msg_1",
                    "role",
                    "assistant",
                    "status",
                    "completed",
                    "content",
                    List.of(part));
            Map<String, Object> usage = Map.of("input_tokens", 3, "output_tokens", 2, "total_tokens", 5);
            stream(
                    reply,
                    List.of(
                            event("response.created", Map.of("response", response(List.of(), Map.of()))),
                            event("response.output_item.added", Map.of("output_index", 0, "item", item)),
                            event(
                                    "response.output_text.delta",
                                    Map.of("item_id", "msg_1", "output_index", 0, "content_index", 0, "delta", text)),
                            event("response.output_item.done", Map.of("output_index", 0, "item", item)),
                            event("response.completed", Map.of("response", response(List.of(item), usage)))));
        };
    }

    /** First a call of this tool, then, once its result is in the conversation, the text. */
    public static Responder responsesToolThenText(String tool, Map<String, ?> arguments, String text) {
        Responder answer = responsesStream(text);
        return (request, reply) -> {
            if (request.bodyText().contains("function_call_output")) {
                answer.respond(request, reply);
                return;
            }
            Map<String, Object> item = Map.of(
                    "type",
                    "function_call",
                    "id",
                    "fc_mock",
                    "call_id",
                    "call_mock",
                    "name",
                    tool,
                    "arguments",
                    Json.write(arguments));
            Map<String, Object> usage = Map.of("input_tokens", 1, "output_tokens", 1, "total_tokens", 2);
            stream(
                    reply,
                    List.of(
                            event("response.created", Map.of("response", response(List.of(), Map.of()))),
                            event("response.output_item.added", Map.of("output_index", 0, "item", item)),
                            event("response.output_item.done", Map.of("output_index", 0, "item", item)),
                            event("response.completed", Map.of("response", response(List.of(item), usage)))));
        };
    }

    public static Responder chatStream(String text) {
        return (request, reply) -> stream(
                reply,
                List.of(
                        "data: " + chatChunk(Map.of("role", "assistant", "content", text), null) + "\n\n",
                        "data: " + chatChunk(Map.of(), "stop") + "\n\n",
                        "data: [DONE]\n\n"));
    }

    /** Sends server-sent events one chunk each. */
    public static void stream(Reply reply, List<String> events) throws java.io.IOException {
        reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
        for (String event : events) {
            reply.chunk(event);
        }
        reply.end();
    }

    public static List<String> anthropicText(String text) {
        List<String> events = new ArrayList<>(anthropicStart());
        events.add(
                event("content_block_start", Map.of("index", 0, "content_block", Map.of("type", "text", "text", ""))));
        events.add(
                event("content_block_delta", Map.of("index", 0, "delta", Map.of("type", "text_delta", "text", text))));
        events.addAll(anthropicEnd("end_turn"));
        return events;
    }

    private static List<String> anthropicTool(String command) {
        List<String> events = new ArrayList<>(anthropicStart());
        Map<String, Object> block = Map.of("type", "tool_use", "id", "toolu_mock_1", "name", "Bash", "input", Map.of());
        String input = Json.write(Map.of("command", command));
        events.add(event("content_block_start", Map.of("index", 0, "content_block", block)));
        events.add(event(
                "content_block_delta",
                Map.of("index", 0, "delta", Map.of("type", "input_json_delta", "partial_json", input))));
        events.addAll(anthropicEnd("tool_use"));
        return events;
    }

    private static List<String> anthropicStart() {
        Map<String, Object> message = Map.of(
                "id",
                "msg_mock",
                "type",
                "message",
                "role",
                "assistant",
                "model",
                "mock-model",
                "content",
                List.of(),
                "usage",
                Map.of("input_tokens", 3, "output_tokens", 1));
        return List.of(event("message_start", Map.of("message", message)));
    }

    private static List<String> anthropicEnd(String reason) {
        return List.of(
                event("content_block_stop", Map.of("index", 0)),
                event(
                        "message_delta",
                        Map.of("delta", Map.of("stop_reason", reason), "usage", Map.of("output_tokens", 2))),
                event("message_stop", Map.of()));
    }

    private static Map<String, Object> response(List<?> output, Map<String, ?> usage) {
        return Map.of(
                "id",
                "resp_mock",
                "object",
                "response",
                "model",
                "mock-model",
                "status",
                output.isEmpty() ? "in_progress" : "completed",
                "output",
                output,
                "usage",
                usage);
    }

    private static String chatChunk(Map<String, ?> delta, String finish) {
        Map<String, Object> choice = new java.util.LinkedHashMap<>();
        choice.put("index", 0);
        choice.put("delta", delta);
        choice.put("finish_reason", finish);
        return Json.write(Map.of(
                "id",
                "chatcmpl_mock",
                "object",
                "chat.completion.chunk",
                "model",
                "mock-model",
                "choices",
                List.of(choice)));
    }

    private static String event(String type, Map<String, ?> fields) {
        Map<String, Object> data = new java.util.LinkedHashMap<>();
        data.put("type", type);
        data.putAll(fields);
        return "event: " + type + "\ndata: " + Json.write(data) + "\n\n";
    }
}
