package org.nemorelay.frontend.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.backend.ChatDelta;
import org.nemorelay.backend.ChatMessage;
import org.nemorelay.backend.PredictOptions;
import org.nemorelay.backend.ToolCall;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.FailureKind;

/** The shapes of OpenAI's API, as far as they are served. Stateless. */
final class OpenAi {
    private OpenAi() {}

    /** A chat request; {@link JsonException} names what is wrong with it. */
    record Chat(String model, boolean stream, boolean usage, PredictOptions options) {}

    static Chat chat(byte[] body, String requestId) {
        JsonObject json = Json.parseObject(body);
        List<ChatMessage> messages = new ArrayList<>();
        for (JsonObject message : json.objects("messages")) {
            messages.add(new ChatMessage(
                    message.string("role"),
                    content(message),
                    message.optionalString("name").orElse(""),
                    message.optionalString("tool_call_id").orElse(""),
                    message.has("tool_calls") ? Json.write(message.array("tool_calls")) : ""));
        }
        if (messages.isEmpty()) {
            throw new JsonException("messages must not be empty");
        }
        String model = json.string("model");
        return new Chat(
                model,
                json.has("stream") && json.bool("stream"),
                json.optionalObject("stream_options")
                        .map(options -> options.has("include_usage") && options.bool("include_usage"))
                        .orElse(false),
                new PredictOptions(
                        "",
                        messages,
                        (int) integer(json, "seed", Integer.MIN_VALUE),
                        (int)
                                (json.has("max_completion_tokens")
                                        ? integer(json, "max_completion_tokens", 0)
                                        : integer(json, "max_tokens", 0)),
                        real(json, "temperature"),
                        real(json, "top_p"),
                        stop(json),
                        true,
                        requestId,
                        json.has("tools") ? Json.write(json.array("tools")) : "",
                        json.has("tool_choice") ? Json.write(json.values().get("tool_choice")) : "",
                        model));
    }

    /** Text, or the text parts of a list of parts. */
    private static String content(JsonObject message) {
        if (!message.has("content")) {
            return "";
        }
        if (message.values().get("content") instanceof List<?>) {
            StringBuilder text = new StringBuilder();
            for (JsonObject part : message.objects("content")) {
                if (!part.string("type").equals("text")) {
                    throw new JsonException("messages.content: only text parts are served here");
                }
                text.append(part.string("text"));
            }
            return text.toString();
        }
        return message.string("content");
    }

    private static long integer(JsonObject json, String key, long min) {
        return json.has(key) ? json.integer(key, min, Integer.MAX_VALUE) : 0;
    }

    private static float real(JsonObject json, String key) {
        Object value = json.values().get(key);
        if (value == null) {
            return 0;
        }
        if (value instanceof Number number) {
            return number.floatValue();
        }
        throw new JsonException(key + " must be a number");
    }

    private static List<String> stop(JsonObject json) {
        Object value = json.values().get("stop");
        if (value == null) {
            return List.of();
        }
        return value instanceof String text ? List.of(text) : json.strings("stop");
    }

    static Map<String, Object> models(List<ModelEntry> models) {
        return Json.object(
                "object",
                "list",
                "data",
                models.stream()
                        .map(model -> Json.object("id", model.name(), "object", "model", "owned_by", "nemo-relay"))
                        .toList());
    }

    static Map<String, Object> error(FailureKind kind, String message) {
        return Json.object("error", Json.object("message", message, "type", kind.word(), "code", null));
    }

    /** What an answer carries beside its choices. */
    record Envelope(String id, long created, String model) {
        Map<String, Object> whole(
                String content, String reasoning, List<ToolCall> calls, String reason, int promptTokens, int tokens) {
            Map<String, Object> message = Json.object("role", "assistant", "content", content);
            if (!reasoning.isEmpty()) {
                message.put("reasoning_content", reasoning);
            }
            if (!calls.isEmpty()) {
                message.put("tool_calls", toolCalls(calls));
            }
            Map<String, Object> answer =
                    Json.object("id", id, "object", "chat.completion", "created", created, "model", model);
            answer.put("choices", List.of(Json.object("index", 0, "message", message, "finish_reason", reason)));
            answer.put("usage", usage(promptTokens, tokens));
            return answer;
        }

        Map<String, Object> chunk(Map<String, Object> delta, Optional<String> reason) {
            Map<String, Object> chunk = head();
            chunk.put(
                    "choices", List.of(Json.object("index", 0, "delta", delta, "finish_reason", reason.orElse(null))));
            return chunk;
        }

        Map<String, Object> usageChunk(int promptTokens, int tokens) {
            Map<String, Object> chunk = head();
            chunk.put("choices", List.of());
            chunk.put("usage", usage(promptTokens, tokens));
            return chunk;
        }

        private Map<String, Object> head() {
            return Json.object("id", id, "object", "chat.completion.chunk", "created", created, "model", model);
        }
    }

    static Map<String, Object> delta(ChatDelta piece) {
        Map<String, Object> delta = Json.object();
        if (!piece.content().isEmpty()) {
            delta.put("content", piece.content());
        }
        if (!piece.reasoning().isEmpty()) {
            delta.put("reasoning_content", piece.reasoning());
        }
        if (!piece.toolCalls().isEmpty()) {
            delta.put("tool_calls", toolCalls(piece.toolCalls()));
        }
        return delta;
    }

    private static List<Object> toolCalls(List<ToolCall> calls) {
        List<Object> json = new ArrayList<>();
        for (ToolCall call : calls) {
            Map<String, Object> function = Json.object();
            if (!call.name().isEmpty()) {
                function.put("name", call.name());
            }
            function.put("arguments", call.arguments());
            Map<String, Object> one = Json.object("index", call.index());
            if (!call.id().isEmpty()) {
                one.put("id", call.id());
                one.put("type", "function");
            }
            one.put("function", function);
            json.add(one);
        }
        return json;
    }

    private static Map<String, Object> usage(int promptTokens, int tokens) {
        return Json.object(
                "prompt_tokens", promptTokens, "completion_tokens", tokens, "total_tokens", promptTokens + tokens);
    }
}
