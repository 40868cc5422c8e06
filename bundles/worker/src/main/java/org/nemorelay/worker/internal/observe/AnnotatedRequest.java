package org.nemorelay.worker.internal.observe;

import java.math.BigDecimal;
import java.util.ArrayList;
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
    /** What has a meaning in one API alone. */
    private static final Set<String> RESPONSES_OWN = Set.of(
            "background",
            "context_management",
            "conversation",
            "prompt",
            "prompt_cache_key",
            "prompt_cache_retention",
            "safety_identifier",
            "stream_options",
            "text");

    private static final Set<String> CHAT_OWN = Set.of(
            "audio",
            "frequency_penalty",
            "function_call",
            "functions",
            "logit_bias",
            "logprobs",
            "modalities",
            "n",
            "prediction",
            "presence_penalty",
            "prompt_cache_key",
            "prompt_cache_retention",
            "reasoning_effort",
            "response_format",
            "safety_identifier",
            "seed",
            "stream_options",
            "verbosity",
            "web_search_options");
    private static final Set<String> ANTHROPIC_OWN =
            Set.of("cache_control", "container", "inference_geo", "output_config", "thinking", "top_k");

    /** What a message of the common form can have. */
    private static final Set<String> CHAT_MESSAGE = Set.of("role", "content", "name", "tool_calls", "tool_call_id");

    private static final Set<String> ANTHROPIC_MESSAGE = Set.of("role", "content");
    private static final Set<String> RESPONSES_MESSAGE = Set.of("type", "role", "content");

    private final ModelApi api;
    private final Map<String, Object> own = new LinkedHashMap<>();
    private final Map<String, Object> params = new LinkedHashMap<>();
    private final Map<String, Object> annotated = new LinkedHashMap<>();

    private AnnotatedRequest(ModelApi api) {
        this.api = api;
    }

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
        return new AnnotatedRequest(api).form(body);
    }

    private Optional<Map<String, Object>> form(Map<String, Object> body) {
        own.put("api", api.api());
        body.forEach((key, value) -> {
            if (value != null) {
                switch (api) {
                    case OPENAI_RESPONSES -> responses(key, value);
                    case OPENAI_CHAT -> chat(key, value);
                    case ANTHROPIC_MESSAGES -> anthropic(key, value);
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

    private void responses(String key, Object value) {
        switch (key) {
            case "input" -> annotated.put("messages", input(value));
            case "temperature", "top_p" -> params.put(key, fraction(value));
            case "max_output_tokens" -> {
                params.put("max_tokens", value);
                annotated.put(key, value);
            }
            case "tools" -> annotated.put(key, mapped(value, AnnotatedRequest::responsesTool));
            case "tool_choice" -> annotated.put(key, choice(value));
            default -> (RESPONSES_OWN.contains(key) ? own : annotated).put(key, value);
        }
    }

    private void chat(String key, Object value) {
        switch (key) {
            case "messages" -> annotated.put(key, mapped(value, AnnotatedRequest::chatMessage));
            case "tools" -> annotated.put(key, mapped(value, AnnotatedRequest::chatTool));
            case "tool_choice" -> annotated.put(key, choice(value));
            case "temperature", "top_p" -> params.put(key, fraction(value));
            case "max_tokens" -> params.put(key, value);
            case "max_completion_tokens" -> {}
            case "stop" -> params.put(key, value instanceof List<?> ? value : List.of(value));
            default -> (CHAT_OWN.contains(key) ? own : annotated).put(key, value);
        }
    }

    private void anthropic(String key, Object value) {
        switch (key) {
            case "system" -> annotated.put("instructions", value);
            case "messages" -> annotated.put(key, mapped(value, AnnotatedRequest::anthropicMessage));
            case "temperature", "top_p" -> params.put(key, fraction(value));
            case "max_tokens" -> params.put(key, value);
            case "stop_sequences" -> params.put("stop", value);
            case "tools" -> annotated.put(key, mapped(value, AnnotatedRequest::anthropicTool));
            case "tool_choice" -> {
                annotated.put(key, anthropicChoice(value));
                if (value instanceof Map<?, ?> choice
                        && choice.get("disable_parallel_tool_use") instanceof Boolean disabled) {
                    annotated.put("parallel_tool_calls", !disabled);
                }
            }
            default -> (ANTHROPIC_OWN.contains(key) ? own : annotated).put(key, value);
        }
    }

    /** A message with more than the common form has stays the API's own. */
    private static Object anthropicMessage(Map<String, Object> message) {
        ModelApi api = ModelApi.ANTHROPIC_MESSAGES;
        if (!ANTHROPIC_MESSAGE.containsAll(message.keySet())) {
            return provider(api, "role", role(message), message);
        }
        return withContent(message, block -> switch (word(block.get("type"))) {
            case "text", "tool_use", "tool_result" -> block;
            case "image" -> part("image", block);
            case "document" -> part("file", block);
            case String type -> provider(api, "type", type, block);
        });
    }

    private static Object chatMessage(Map<String, Object> message) {
        boolean functions = !(message.get("tool_calls") instanceof List<?> calls)
                || calls.stream().allMatch(call -> call instanceof Map<?, ?> fields && fields.containsKey("function"));
        if (!CHAT_MESSAGE.containsAll(message.keySet()) || !functions) {
            return provider(ModelApi.OPENAI_CHAT, "role", role(message), message);
        }
        Map<String, Object> said = new LinkedHashMap<>(message);
        said.remove("content", null);
        return withContent(
                said,
                part -> word(part.get("type")).equals("input_audio") && part.get("input_audio") != null
                        ? Map.of("type", "audio", "audio", part.get("input_audio"))
                        : part);
    }

    private static Object responsesMessage(Map<String, Object> message) {
        ModelApi api = ModelApi.OPENAI_RESPONSES;
        if (!RESPONSES_MESSAGE.containsAll(message.keySet())) {
            return provider(api, "role", "message", message);
        }
        Map<String, Object> said = new LinkedHashMap<>(message);
        said.remove("type");
        return withContent(said, part -> switch (word(part.get("type"))) {
            case "input_text", "output_text" -> {
                Map<String, Object> text = new LinkedHashMap<>(part);
                text.put("type", "text");
                yield text;
            }
            case "input_image" -> part("image", part);
            case "input_file" -> part("file", part);
            case "text", "refusal" -> part;
            case String type -> provider(api, "type", type, part);
        });
    }

    private static Map<String, Object> withContent(Map<String, Object> message, Change change) {
        Map<String, Object> mapped = new LinkedHashMap<>(message);
        mapped.computeIfPresent("content", (key, content) -> mapped(content, change));
        return mapped;
    }

    /** All of a part under the word of the common form. */
    private static Map<String, Object> part(String type, Map<String, Object> part) {
        Map<String, Object> rest = new LinkedHashMap<>(part);
        rest.remove("type");
        return Map.of("type", type, type, rest);
    }

    private static Object input(Object input) {
        return input instanceof String text
                ? List.of(Map.of("role", "user", "content", text))
                : mapped(input, AnnotatedRequest::item);
    }

    private static Object item(Map<String, Object> item) {
        String type = item.getOrDefault("type", "message") instanceof String text ? text : "";
        return switch (type) {
            case "message" -> responsesMessage(item);
            case "function_call" ->
                call(
                        "tool_call",
                        item,
                        "arguments",
                        parsed(item.get("arguments")).orElse(item.get("arguments")));
            case "function_call_output" -> call("tool_result", item, "output", item.get("output"));
            default -> provider(ModelApi.OPENAI_RESPONSES, "role", type, item);
        };
    }

    private static Map<String, Object> call(String role, Map<String, Object> item, String key, Object value) {
        Map<String, Object> call = new LinkedHashMap<>(item);
        call.remove("type");
        call.put("role", role);
        call.put(key, value);
        return call;
    }

    // ---- tools

    private static Object anthropicTool(Map<String, Object> tool) {
        if (tool.containsKey("type") || !(tool.get("name") instanceof String) || !tool.containsKey("input_schema")) {
            return provider(ModelApi.ANTHROPIC_MESSAGES, "type", word(tool.get("type")), tool);
        }
        Map<String, Object> function = new LinkedHashMap<>();
        Map<String, Object> annotated = new LinkedHashMap<>(Map.of("type", "function", "function", function));
        tool.forEach((key, value) -> {
            switch (key) {
                case "name", "description", "strict" -> function.put(key, value);
                case "input_schema" -> function.put("parameters", value);
                default -> annotated.put(key, value);
            }
        });
        return annotated;
    }

    private static Object chatTool(Map<String, Object> tool) {
        return "function".equals(tool.get("type"))
                ? tool
                : provider(ModelApi.OPENAI_CHAT, "type", word(tool.get("type")), tool);
    }

    private static Object responsesTool(Map<String, Object> tool) {
        if (!"function".equals(tool.get("type"))) {
            return provider(ModelApi.OPENAI_RESPONSES, "type", word(tool.get("type")), tool);
        }
        Map<String, Object> function = new LinkedHashMap<>(tool);
        function.remove("type");
        function.remove("strict", null);
        return Map.of("type", "function", "function", function);
    }

    private Object choice(Object choice) {
        if (!(choice instanceof Map<?, ?> fields)) {
            return choice;
        }
        if (!"function".equals(fields.get("type"))) {
            return Map.of("provider", api.api(), "kind", "tool_choice", "value", choice);
        }
        return fields.get("name") == null ? choice : function(fields.get("name"));
    }

    private static Object anthropicChoice(Object choice) {
        Map<String, Object> fields = StreamedAnswer.objectOf(choice);
        String type = word(fields.get("type"));
        if (type.equals("tool") && fields.get("name") != null) {
            return function(fields.get("name"));
        }
        return switch (type) {
            case "auto", "none" -> type;
            case "any" -> "required";
            default -> Map.of("provider", ModelApi.ANTHROPIC_MESSAGES.api(), "kind", type, "value", choice);
        };
    }

    private static Map<String, Object> function(Object name) {
        return Map.of("type", "function", "function", Map.of("name", name));
    }

    // ---- values

    /** The API's own word for what it is. */
    private static String word(Object type) {
        return type instanceof String word ? word : "unknown";
    }

    /** The common form has fractions. */
    private static Object fraction(Object value) {
        return value instanceof Long whole ? BigDecimal.valueOf(whole).setScale(1) : value;
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
