package org.nemorelay.worker.internal.observe;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;

/**
 * A model request as its record has it (plugins.md 1.3 and 1.6): what of the conversation is new, and the same brought to one
 * form for all APIs. The form is that of the stock program's records.
 */
final class AnnotatedRequest {
    private static final Set<String> RESPONSES_OWN =
            Set.of("background", "conversation", "prompt_cache_key", "safety_identifier", "stream_options", "text");
    private static final Set<String> CHAT_OWN = Set.of(
            "frequency_penalty",
            "logit_bias",
            "logprobs",
            "modalities",
            "n",
            "presence_penalty",
            "reasoning_effort",
            "response_format",
            "seed",
            "stream_options",
            "verbosity");
    private static final Set<String> COMMON_BLOCKS = Set.of("text", "image", "tool_use", "tool_result");
    private static final Set<String> ANTHROPIC_OWN = Set.of("output_config", "thinking", "top_k");
    private static final Set<String> ASSISTANT = Set.of("role", "content", "name", "tool_calls");

    private AnnotatedRequest() {}

    /** The request without what earlier ones of its agent have told: system messages, and all from the last user message on. */
    static Map<String, Object> recent(ModelApi api, Map<String, Object> body) {
        String key = api == ModelApi.OPENAI_RESPONSES ? "input" : "messages";
        if (!(body.get(key) instanceof List<?> messages)) {
            return body;
        }
        int from = last(messages, "user", true);
        if (from < 0) {
            from = last(messages, "system", false);
        }
        List<Object> kept = new ArrayList<>();
        for (int i = 0; i < messages.size(); i++) {
            if (i >= from || role(messages.get(i)).equals("system")) {
                kept.add(messages.get(i));
            }
        }
        Map<String, Object> recent = new LinkedHashMap<>(body);
        recent.put(key, kept);
        return recent;
    }

    /** What the user said last; empty where that is no text. */
    static Optional<String> prompt(Map<String, Object> body) {
        if (!(body.get("messages") instanceof List<?> messages)) {
            return Optional.empty();
        }
        int last = last(messages, "user", true);
        Object content = last < 0 ? null : ((Map<?, ?>) messages.get(last)).get("content");
        if (content instanceof List<?> blocks) {
            content = blocks.stream()
                    .filter(block -> block instanceof Map<?, ?> fields && "text".equals(fields.get("type")))
                    .map(block -> ((Map<?, ?>) block).get("text"))
                    .reduce(null, (first, second) -> second);
        }
        return content instanceof String text ? Optional.of(text) : Optional.empty();
    }

    private static int last(List<?> messages, String role, boolean is) {
        for (int i = messages.size() - 1; i >= 0; i--) {
            if (role(messages.get(i)).equals(role) == is) {
                return i;
            }
        }
        return -1;
    }

    private static String role(Object message) {
        return message instanceof Map<?, ?> fields && fields.get("role") instanceof String role ? role : "";
    }

    /** The one form; empty for a body without messages. */
    static Optional<Map<String, Object>> of(ModelApi api, Map<String, Object> body) {
        Map<String, Object> own = new LinkedHashMap<>();
        own.put("api", api.api());
        Map<String, Object> params = new LinkedHashMap<>();
        Map<String, Object> annotated = new LinkedHashMap<>();
        body.forEach((key, value) -> {
            if (value != null) {
                switch (api) {
                    case OPENAI_RESPONSES -> responses(api, key, value, own, params, annotated);
                    case OPENAI_CHAT -> chat(api, key, value, own, params, annotated);
                    case ANTHROPIC_MESSAGES -> anthropic(api, key, value, own, params, annotated);
                }
            }
        });
        if (body.get("max_completion_tokens") != null && api == ModelApi.OPENAI_CHAT) {
            params.put("max_tokens", body.get("max_completion_tokens"));
        }
        if (!(annotated.get("messages") instanceof List<?>)) {
            return Optional.empty();
        }
        annotated.put("api_specific", own);
        if (!params.isEmpty()) {
            annotated.put("params", params);
        }
        return Optional.of(annotated);
    }

    private static void responses(
            ModelApi api,
            String key,
            Object value,
            Map<String, Object> own,
            Map<String, Object> params,
            Map<String, Object> annotated) {
        switch (key) {
            case "input" -> annotated.put("messages", input(api, value));
            case "temperature", "top_p" -> params.put(key, value);
            case "max_output_tokens" -> {
                params.put("max_tokens", value);
                annotated.put(key, value);
            }
            case "tools" -> annotated.put(key, tools(api, value, "function"));
            case "tool_choice" -> annotated.put(key, choice(value));
            default -> (RESPONSES_OWN.contains(key) ? own : annotated).put(key, value);
        }
    }

    private static void chat(
            ModelApi api,
            String key,
            Object value,
            Map<String, Object> own,
            Map<String, Object> params,
            Map<String, Object> annotated) {
        switch (key) {
            case "messages" -> annotated.put(key, mapped(value, message -> assistant(api, message)));
            case "temperature", "top_p", "max_tokens" -> params.put(key, value);
            case "max_completion_tokens" -> {}
            case "stop" -> params.put(key, value instanceof List<?> ? value : List.of(value));
            default -> (CHAT_OWN.contains(key) ? own : annotated).put(key, value);
        }
    }

    private static void anthropic(
            ModelApi api,
            String key,
            Object value,
            Map<String, Object> own,
            Map<String, Object> params,
            Map<String, Object> annotated) {
        switch (key) {
            case "system" -> annotated.put("instructions", value);
            case "messages" -> annotated.put(key, mapped(value, message -> blocks(api, message)));
            case "temperature", "top_p", "max_tokens" -> params.put(key, value);
            case "stop_sequences" -> params.put("stop", value);
            case "tools" -> annotated.put(key, tools(api, value, "custom"));
            case "tool_choice" -> annotated.put(key, choice(value));
            default -> (ANTHROPIC_OWN.contains(key) ? own : annotated).put(key, value);
        }
    }

    /** Blocks of a kind that the common form lacks stay the API's own. */
    private static Object blocks(ModelApi api, Map<String, Object> message) {
        if (!(message.get("content") instanceof List<?> content)) {
            return message;
        }
        Map<String, Object> mapped = new LinkedHashMap<>(message);
        mapped.put(
                "content",
                mapped(
                        content,
                        block -> block.get("type") instanceof String type && !COMMON_BLOCKS.contains(type)
                                ? provider(api, "type", type, block)
                                : block));
        return mapped;
    }

    private static Object input(ModelApi api, Object input) {
        return input instanceof String text
                ? List.of(Map.of("role", "user", "content", text))
                : mapped(input, item -> item(api, item));
    }

    private static Object item(ModelApi api, Map<String, Object> item) {
        String type = item.getOrDefault("type", "message") instanceof String text ? text : "";
        switch (type) {
            case "message" -> {
                if (!role(item).equals("assistant")) {
                    Map<String, Object> message = new LinkedHashMap<>(item);
                    message.remove("type");
                    message.computeIfPresent("content", (key, content) -> mapped(content, AnnotatedRequest::part));
                    return message;
                }
            }
            case "function_call" -> {
                Optional<Object> arguments = parsed(item.get("arguments"));
                if (arguments.isPresent()) {
                    return fields("tool_call", item, "call_id", "name", "arguments", arguments.get());
                }
            }
            case "function_call_output" -> {
                if (item.get("output") instanceof String output) {
                    return fields("tool_result", item, "call_id", "", "output", output);
                }
            }
            default -> {}
        }
        return provider(api, "role", type, item);
    }

    private static Map<String, Object> fields(
            String role, Map<String, Object> item, String first, String second, String key, Object value) {
        Map<String, Object> fields = new HashMap<>();
        fields.put("role", role);
        fields.put(key, value);
        for (String kept : List.of(first, second)) {
            if (item.get(kept) != null) {
                fields.put(kept, item.get(kept));
            }
        }
        return fields;
    }

    private static Object part(Map<String, Object> part) {
        if ("input_text".equals(part.get("type"))) {
            Map<String, Object> text = new LinkedHashMap<>(part);
            text.put("type", "text");
            return text;
        }
        if ("input_image".equals(part.get("type"))) {
            Map<String, Object> image = new LinkedHashMap<>(part);
            image.remove("type");
            return Map.of("type", "image", "image", image);
        }
        return part;
    }

    /** An assistant's message with more than the common form has stays the API's own. */
    private static Object assistant(ModelApi api, Map<String, Object> message) {
        return role(message).equals("assistant") && !ASSISTANT.containsAll(message.keySet())
                ? provider(api, "role", "assistant", message)
                : message;
    }

    /** @param function the type of tools that the caller runs itself */
    private static Object tools(ModelApi api, Object tools, String function) {
        return mapped(tools, tool -> {
            if (!function.equals(tool.getOrDefault("type", function))) {
                return provider(api, "type", String.valueOf(tool.get("type")), tool);
            }
            Map<String, Object> inner = new LinkedHashMap<>();
            Map<String, Object> outer = new LinkedHashMap<>();
            tool.forEach((key, value) -> {
                switch (key) {
                    case "type" -> {}
                    case "input_schema" -> inner.put("parameters", value);
                    case "cache_control" -> outer.put(key, value);
                    default -> inner.put(key, value);
                }
            });
            outer.put("type", "function");
            outer.put("function", inner);
            return outer;
        });
    }

    private static Object choice(Object choice) {
        if (!(choice instanceof Map<?, ?> fields)) {
            return choice;
        }
        Object name = fields.get("name");
        return switch (String.valueOf(fields.get("type"))) {
            case "auto" -> "auto";
            case "any" -> "required";
            case "none" -> "none";
            default -> name == null ? choice : Map.of("type", "function", "function", Map.of("name", name));
        };
    }

    /** What no common form is known for. */
    private static Map<String, Object> provider(ModelApi api, String where, String kind, Map<String, Object> value) {
        return Map.of(where, "provider_native", "provider", api.api(), "kind", kind, "value", value);
    }

    private interface Change {
        Object of(Map<String, Object> value);
    }

    /** Every object of a list changed; anything else stays as it is. */
    private static Object mapped(Object value, Change change) {
        if (!(value instanceof List<?> list)) {
            return value;
        }
        List<Object> mapped = new ArrayList<>();
        for (Object one : list) {
            mapped.add(one instanceof Map<?, ?> ? change.of(StreamedAnswer.objectOf(one)) : one);
        }
        return mapped;
    }

    private static Optional<Object> parsed(Object arguments) {
        try {
            return arguments instanceof String text ? Optional.ofNullable(Json.parse(text)) : Optional.empty();
        } catch (JsonException e) {
            return Optional.empty();
        }
    }
}
