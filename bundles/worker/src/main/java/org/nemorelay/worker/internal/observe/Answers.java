package org.nemorelay.worker.internal.observe;

import static org.nemorelay.worker.internal.observe.StreamedAnswer.objectOf;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;

/** Reads a provider's whole answer the same way for every API (plugins.md 1.3, {@code annotated_response}). Stateless. */
final class Answers {
    /** What has a place of its own in the annotation; everything else stands in it under its own name. */
    private static final Set<String> MESSAGES =
            Set.of("id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage", "container");

    private static final Set<String> RESPONSES = Set.of(
            "id",
            "model",
            "output",
            "usage",
            "status",
            "incomplete_details",
            "service_tier",
            "store",
            "truncation",
            "previous_response_id",
            "reasoning");
    private static final Set<String> CHAT =
            Set.of("id", "model", "choices", "usage", "service_tier", "system_fingerprint");

    private Answers() {}

    /** A tool that the model asked for. */
    record ToolCall(String id, String name, Object arguments) {}

    /** The normalised answer: what has a place of its own, and beside it everything else that the provider said. */
    static Map<String, Object> annotated(ModelApi api, Map<String, Object> answer) {
        Map<String, Object> annotated = new LinkedHashMap<>();
        put(annotated, "id", answer.get("id"));
        put(annotated, "model", answer.get("model"));
        Map<String, Object> specific = new LinkedHashMap<>();
        specific.put("api", api.api());
        annotated.put("api_specific", specific);
        Set<String> placed = switch (api) {
            case ANTHROPIC_MESSAGES -> messages(answer, annotated, specific);
            case OPENAI_RESPONSES -> responses(answer, annotated, specific);
            case OPENAI_CHAT -> chat(answer, annotated, specific);
        };
        if (answer.get("usage") instanceof Map<?, ?>) {
            annotated.put("usage", usage(api, objectOf(answer.get("usage"))));
        }
        answer.forEach((key, value) -> {
            if (!placed.contains(key)) {
                annotated.putIfAbsent(key, value);
            }
        });
        return annotated;
    }

    private static Set<String> messages(
            Map<String, Object> answer, Map<String, Object> annotated, Map<String, Object> specific) {
        put(specific, "content_blocks", answer.get("content"));
        put(specific, "object_type", answer.get("type"));
        List.of("role", "stop_reason", "stop_sequence", "container")
                .forEach(key -> put(specific, key, answer.get(key)));
        List<String> texts = new ArrayList<>();
        texts(answer.get("content"), "text", texts);
        message(annotated, texts);
        calls(annotated, toolCalls(ModelApi.ANTHROPIC_MESSAGES, answer));
        put(annotated, "finish_reason", finish(answer.get("stop_reason")));
        return MESSAGES;
    }

    private static Set<String> responses(
            Map<String, Object> answer, Map<String, Object> annotated, Map<String, Object> specific) {
        Map<String, Object> usage = objectOf(answer.get("usage"));
        List.of("input_tokens_details", "output_tokens_details").forEach(key -> put(specific, key, usage.get(key)));
        put(specific, "output_items", answer.get("output"));
        List.of(
                        "status",
                        "incomplete_details",
                        "service_tier",
                        "store",
                        "truncation",
                        "previous_response_id",
                        "reasoning")
                .forEach(key -> put(specific, key, answer.get(key)));
        List<String> texts = new ArrayList<>();
        list(answer.get("output")).forEach(item -> texts(objectOf(item).get("content"), "output_text", texts));
        message(annotated, texts);
        calls(annotated, toolCalls(ModelApi.OPENAI_RESPONSES, answer));
        Object reason = objectOf(answer.get("incomplete_details")).get("reason");
        put(annotated, "finish_reason", finish(reason == null ? answer.get("status") : reason));
        return RESPONSES;
    }

    private static Set<String> chat(
            Map<String, Object> answer, Map<String, Object> annotated, Map<String, Object> specific) {
        Map<String, Object> choice = firstChoice(answer);
        put(specific, "logprobs", choice.get("logprobs"));
        List.of("service_tier", "system_fingerprint").forEach(key -> put(specific, key, answer.get(key)));
        Map<String, Object> message = objectOf(choice.get("message"));
        if (message.get("content") instanceof String text) {
            annotated.put("message", text);
        }
        List<ToolCall> calls = toolCalls(ModelApi.OPENAI_CHAT, answer);
        calls(annotated, calls);
        if (calls.isEmpty() && message.get("tool_calls") instanceof List<?>) {
            annotated.put("tool_calls", List.of());
        }
        put(annotated, "finish_reason", finish(choice.get("finish_reason")));
        return CHAT;
    }

    private static void message(Map<String, Object> annotated, List<String> texts) {
        if (!texts.isEmpty()) {
            annotated.put("message", String.join("\n", texts));
        }
    }

    private static void calls(Map<String, Object> annotated, List<ToolCall> calls) {
        if (!calls.isEmpty()) {
            annotated.put(
                    "tool_calls",
                    calls.stream()
                            .map(call -> Map.of("id", call.id(), "name", call.name(), "arguments", call.arguments()))
                            .toList());
        }
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
        if (api == ModelApi.ANTHROPIC_MESSAGES) {
            put(counts, "total_tokens", sum(prompt, completion));
            put(counts, "cache_read_tokens", usage.get("cache_read_input_tokens"));
            put(counts, "cache_write_tokens", usage.get("cache_creation_input_tokens"));
            put(counts, "uncached_input_tokens", prompt);
        } else {
            put(counts, "total_tokens", usage.get("total_tokens"));
            Object details = usage.get(chat ? "prompt_tokens_details" : "input_tokens_details");
            if (objectOf(details).get("cached_tokens") instanceof Long cached) {
                counts.put("cache_read_tokens", cached);
                if (prompt instanceof Long all && all >= cached) {
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
                    case "end_turn", "stop", "completed" -> "complete";
                    case "tool_use", "tool_calls", "function_call" -> "tool_use";
                    case "max_tokens", "length", "max_output_tokens" -> "length";
                    case "content_filter" -> word;
                    default -> Map.of("unknown", word);
                };
    }

    private static Map<String, Object> firstChoice(Map<String, Object> answer) {
        List<?> choices = list(answer.get("choices"));
        return choices.isEmpty() ? Map.of() : objectOf(choices.getFirst());
    }

    private static void texts(Object blocks, String type, List<String> texts) {
        for (Object block : list(blocks)) {
            Map<String, Object> fields = objectOf(block);
            if (type.equals(fields.get("type")) && fields.get("text") instanceof String part) {
                texts.add(part);
            }
        }
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
