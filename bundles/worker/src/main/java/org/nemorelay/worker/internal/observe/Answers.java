package org.nemorelay.worker.internal.observe;

import static org.nemorelay.worker.internal.observe.StreamedAnswer.objectOf;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;

/** Reads a provider's whole answer the same way for every API (plugins.md 1.3, {@code annotated_response}). Stateless. */
final class Answers {
    private Answers() {}

    /** A tool that the model asked for. */
    record ToolCall(String id, String name, Object arguments) {}

    /** The normalised answer. */
    static Map<String, Object> annotated(ModelApi api, Map<String, Object> answer) {
        Map<String, Object> annotated = new LinkedHashMap<>();
        put(annotated, "id", answer.get("id"));
        put(annotated, "model", answer.get("model"));
        Map<String, Object> specific = new LinkedHashMap<>();
        specific.put("api", api.api());
        String text;
        switch (api) {
            case ANTHROPIC_MESSAGES -> {
                put(specific, "content_blocks", answer.get("content"));
                put(specific, "object_type", answer.get("type"));
                put(specific, "role", answer.get("role"));
                put(specific, "stop_reason", answer.get("stop_reason"));
                put(specific, "stop_sequence", answer.get("stop_sequence"));
                text = texts(answer.get("content"), "text");
                put(annotated, "finish_reason", finish(answer.get("stop_reason")));
            }
            case OPENAI_RESPONSES -> {
                put(
                        specific,
                        "input_tokens_details",
                        objectOf(answer.get("usage")).get("input_tokens_details"));
                put(
                        specific,
                        "output_tokens_details",
                        objectOf(answer.get("usage")).get("output_tokens_details"));
                put(specific, "output_items", answer.get("output"));
                put(specific, "status", answer.get("status"));
                put(specific, "incomplete_details", answer.get("incomplete_details"));
                StringBuilder all = new StringBuilder();
                for (Object item : list(answer.get("output"))) {
                    all.append(texts(objectOf(item).get("content"), "output_text"));
                }
                text = all.toString();
                put(annotated, "object", answer.get("object"));
                Object reason = objectOf(answer.get("incomplete_details")).get("reason");
                put(annotated, "finish_reason", finish(reason == null ? answer.get("status") : reason));
            }
            case OPENAI_CHAT -> {
                Map<String, Object> choice = firstChoice(answer);
                text = objectOf(choice.get("message")).get("content") instanceof String content ? content : "";
                put(annotated, "object", answer.get("object"));
                put(annotated, "finish_reason", finish(choice.get("finish_reason")));
            }
            default -> throw new IllegalStateException(api.name());
        }
        annotated.put("api_specific", specific);
        if (!text.isEmpty()) {
            annotated.put("message", text);
        }
        List<Object> calls = new ArrayList<>();
        for (ToolCall call : toolCalls(api, answer)) {
            calls.add(Map.of("id", call.id(), "name", call.name(), "arguments", call.arguments()));
        }
        if (!calls.isEmpty()) {
            annotated.put("tool_calls", calls);
        }
        if (answer.containsKey("error")) {
            annotated.put("error", answer.get("error"));
        }
        if (answer.get("usage") instanceof Map<?, ?>) {
            annotated.put("usage", usage(api, objectOf(answer.get("usage"))));
        }
        return annotated;
    }

    static List<ToolCall> toolCalls(ModelApi api, Map<String, Object> answer) {
        List<ToolCall> calls = new ArrayList<>();
        switch (api) {
            case ANTHROPIC_MESSAGES -> {
                for (Object block : list(answer.get("content"))) {
                    Map<String, Object> fields = objectOf(block);
                    if ("tool_use".equals(fields.get("type"))) {
                        add(calls, fields.get("id"), fields.get("name"), fields.get("input"));
                    }
                }
            }
            case OPENAI_RESPONSES -> {
                for (Object item : list(answer.get("output"))) {
                    Map<String, Object> fields = objectOf(item);
                    if ("function_call".equals(fields.get("type"))) {
                        add(calls, fields.get("call_id"), fields.get("name"), fields.get("arguments"));
                    } else if ("custom_tool_call".equals(fields.get("type"))) {
                        add(calls, fields.get("call_id"), fields.get("name"), fields.get("input"));
                    }
                }
            }
            case OPENAI_CHAT -> {
                Object message = firstChoice(answer).get("message");
                for (Object call : list(objectOf(message).get("tool_calls"))) {
                    Map<String, Object> function = objectOf(objectOf(call).get("function"));
                    add(calls, objectOf(call).get("id"), function.get("name"), function.get("arguments"));
                }
            }
        }
        return calls;
    }

    /** JSON in a string, or the string. */
    static Object parsed(String text) {
        try {
            return Json.parse(text);
        } catch (JsonException e) {
            return text;
        }
    }

    private static void add(List<ToolCall> calls, Object id, Object name, Object arguments) {
        if (id instanceof String callId && name instanceof String tool) {
            Object value = arguments instanceof String text ? parsed(text) : arguments;
            calls.add(new ToolCall(callId, tool, value == null ? Map.of() : value));
        }
    }

    /** Anthropic counts cached tokens beside the input, OpenAI within it. */
    private static Map<String, Object> usage(ModelApi api, Map<String, Object> usage) {
        Map<String, Object> counts = new LinkedHashMap<>();
        boolean chat = api == ModelApi.OPENAI_CHAT;
        Object prompt = usage.get(chat ? "prompt_tokens" : "input_tokens");
        Object completion = usage.get(chat ? "completion_tokens" : "output_tokens");
        put(counts, "prompt_tokens", prompt);
        put(counts, "completion_tokens", completion);
        Object total = usage.get("total_tokens");
        put(counts, "total_tokens", total != null ? total : sum(prompt, completion));
        if (api == ModelApi.ANTHROPIC_MESSAGES) {
            put(counts, "cache_read_tokens", usage.get("cache_read_input_tokens"));
            put(counts, "cache_write_tokens", usage.get("cache_creation_input_tokens"));
            put(counts, "uncached_input_tokens", prompt);
        } else {
            Object details = usage.get(chat ? "prompt_tokens_details" : "input_tokens_details");
            if (objectOf(details).get("cached_tokens") instanceof Long cached) {
                counts.put("cache_read_tokens", cached);
                if (prompt instanceof Long all) {
                    counts.put("uncached_input_tokens", all - cached);
                }
            }
        }
        return counts;
    }

    private static Object sum(Object one, Object other) {
        return one instanceof Long a && other instanceof Long b ? a + b : null;
    }

    private static Object finish(Object reason) {
        return !(reason instanceof String word)
                ? reason
                : switch (word) {
                    case "end_turn", "stop_sequence", "stop", "completed" -> "complete";
                    case "tool_use", "tool_calls", "function_call" -> "tool_use";
                    case "max_tokens", "length", "max_output_tokens" -> "length";
                    default -> Map.of("unknown", word);
                };
    }

    private static Map<String, Object> firstChoice(Map<String, Object> answer) {
        List<?> choices = list(answer.get("choices"));
        return choices.isEmpty() ? Map.of() : objectOf(choices.getFirst());
    }

    private static String texts(Object blocks, String type) {
        StringBuilder text = new StringBuilder();
        for (Object block : list(blocks)) {
            Map<String, Object> fields = objectOf(block);
            if (type.equals(fields.get("type")) && fields.get("text") instanceof String part) {
                text.append(part);
            }
        }
        return text.toString();
    }

    private static List<?> list(Object value) {
        return value instanceof List<?> list ? list : List.of();
    }

    private static void put(Map<String, Object> map, String key, Object value) {
        if (value != null) {
            map.put(key, value);
        }
    }
}
