package org.nemorelay.plugin.api;

import static org.nemorelay.json.JsonText.pointer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonText;

/** Reads the three APIs' bodies into the types that plugins see. What it does not know becomes {@link Part.Other}. Stateless. */
final class TypedJson {
    /** What a model may say in Chat Completions instead of content, or beside it. */
    private static final List<String> BESIDE_CONTENT = List.of("refusal", "audio", "reasoning_content", "reasoning");

    private TypedJson() {}

    // ---- requests

    static List<Message> messages(ModelApi api, Map<String, Object> body) {
        List<Message> messages = new ArrayList<>();
        switch (api) {
            case ANTHROPIC_MESSAGES -> {
                if (body.containsKey("system")) {
                    messages.add(new Message("system", parts(body.get("system"), "/system")));
                }
                listed(body, "messages", messages);
            }
            case OPENAI_CHAT -> listed(body, "messages", messages);
            case OPENAI_RESPONSES -> {
                if (body.get("instructions") instanceof String text) {
                    messages.add(new Message("system", List.of(new Part.Text(text, "/instructions"))));
                }
                if (body.get("input") instanceof String text) {
                    messages.add(new Message("user", List.of(new Part.Text(text, "/input"))));
                }
                items(list(body.get("input")), "/input", messages);
            }
        }
        return List.copyOf(messages);
    }

    static List<Tool> tools(ModelApi api, Map<String, Object> body) {
        List<Tool> tools = new ArrayList<>();
        List<?> list = list(body.get("tools"));
        for (int i = 0; i < list.size(); i++) {
            Map<String, Object> given = object(list.get(i));
            Map<String, Object> tool = api == ModelApi.OPENAI_CHAT && given.containsKey("function")
                    ? object(given.get("function"))
                    : given;
            String name = tool.get("name") instanceof String text ? text : text(given.get("type"));
            tools.add(new Tool(
                    name,
                    Optional.ofNullable(tool.get("description"))
                            .filter(String.class::isInstance)
                            .map(String.class::cast),
                    Optional.ofNullable(tool.get(api == ModelApi.ANTHROPIC_MESSAGES ? "input_schema" : "parameters")),
                    pointer("/tools", i)));
        }
        List<?> functions = api == ModelApi.OPENAI_CHAT ? list(body.get("functions")) : List.of();
        for (int i = 0; i < functions.size(); i++) {
            Map<String, Object> function = object(functions.get(i));
            tools.add(new Tool(
                    text(function.get("name")),
                    function.get("description") instanceof String said ? Optional.of(said) : Optional.empty(),
                    Optional.ofNullable(function.get("parameters")),
                    pointer("/functions", i)));
        }
        return List.copyOf(tools);
    }

    private static void listed(Map<String, Object> body, String key, List<Message> messages) {
        List<?> list = list(body.get(key));
        for (int i = 0; i < list.size(); i++) {
            messages.add(message(object(list.get(i)), pointer("/" + key, i)));
        }
    }

    /** A message of Chat Completions or Anthropic Messages. */
    private static Message message(Map<String, Object> message, String at) {
        String role = text(message.get("role"));
        List<Part> parts = new ArrayList<>();
        switch (role) {
            case "tool" ->
                parts.add(new Part.ToolResult(text(message.get("tool_call_id")), value(message.get("content")), at));
            // What came before tools: its call has no id but the function's name.
            case "function" ->
                parts.add(new Part.ToolResult(text(message.get("name")), value(message.get("content")), at));
            default -> parts.addAll(parts(message.get("content"), at + "/content"));
        }
        for (String beside : BESIDE_CONTENT) {
            if (message.get(beside) != null) {
                parts.add(new Part.Other(beside, message.get(beside), pointer(at, beside)));
            }
        }
        if (message.get("function_call") instanceof Map<?, ?>) {
            Map<String, Object> function = object(message.get("function_call"));
            String name = text(function.get("name"));
            parts.add(new Part.ToolUse(
                    name,
                    name,
                    parsed(function.get("arguments")),
                    at + "/function_call",
                    at + "/function_call/arguments"));
        }
        List<?> calls = list(message.get("tool_calls"));
        for (int i = 0; i < calls.size(); i++) {
            chatCall(object(calls.get(i)), pointer(at + "/tool_calls", i), parts);
        }
        return new Message(role, parts);
    }

    private static void chatCall(Map<String, Object> call, String at, List<Part> parts) {
        boolean custom = call.containsKey("custom");
        Map<String, Object> function = object(call.get(custom ? "custom" : "function"));
        Object arguments = function.get(custom ? "input" : "arguments");
        parts.add(new Part.ToolUse(
                text(call.get("id")),
                text(function.get("name")),
                custom ? value(arguments) : parsed(arguments),
                at,
                at + (custom ? "/custom/input" : "/function/arguments")));
    }

    private static void items(List<?> items, String at, List<Message> messages) {
        for (int i = 0; i < items.size(); i++) {
            Map<String, Object> item = object(items.get(i));
            String place = pointer(at, i);
            String type = text(item.get("type"));
            String role = switch (type) {
                case "message", "" -> text(item.get("role"));
                case "function_call_output", "custom_tool_call_output" -> "tool";
                default -> "assistant";
            };
            messages.add(new Message(role, item(item, place)));
        }
    }

    // ---- responses

    static List<Part> output(ModelApi api, Map<String, Object> body) {
        List<Part> parts = new ArrayList<>();
        switch (api) {
            case ANTHROPIC_MESSAGES -> parts.addAll(parts(body.get("content"), "/content"));
            case OPENAI_CHAT -> {
                List<?> choices = list(body.get("choices"));
                for (int i = 0; i < choices.size(); i++) {
                    parts.addAll(message(object(object(choices.get(i)).get("message")), "/choices/" + i + "/message")
                            .parts());
                }
            }
            case OPENAI_RESPONSES -> {
                List<?> items = list(body.get("output"));
                for (int i = 0; i < items.size(); i++) {
                    parts.addAll(item(object(items.get(i)), pointer("/output", i)));
                }
            }
        }
        return List.copyOf(parts);
    }

    /** Why the model stopped, in the API's own word; empty where it does not say. */
    static String finishReason(ModelApi api, Map<String, Object> body) {
        return switch (api) {
            case ANTHROPIC_MESSAGES -> text(body.get("stop_reason"));
            case OPENAI_CHAT -> {
                List<?> choices = list(body.get("choices"));
                yield choices.isEmpty() ? "" : text(object(choices.getFirst()).get("finish_reason"));
            }
            case OPENAI_RESPONSES -> {
                String reason = text(object(body.get("incomplete_details")).get("reason"));
                yield reason.isEmpty() ? text(body.get("status")) : reason;
            }
        };
    }

    static Optional<Usage> usage(ModelApi api, Object value) {
        if (!(value instanceof Map<?, ?>)) {
            return Optional.empty();
        }
        Map<String, Object> usage = object(value);
        return Optional.of(
                switch (api) {
                    case ANTHROPIC_MESSAGES ->
                        new Usage(
                                count(usage.get("input_tokens")),
                                count(usage.get("output_tokens")),
                                count(usage.get("cache_read_input_tokens")),
                                count(usage.get("cache_creation_input_tokens")));
                    case OPENAI_CHAT -> openai(usage, "prompt_tokens", "completion_tokens", "prompt_tokens_details");
                    case OPENAI_RESPONSES -> openai(usage, "input_tokens", "output_tokens", "input_tokens_details");
                });
    }

    private static Usage openai(Map<String, Object> usage, String in, String out, String details) {
        OptionalLong input = count(usage.get(in));
        OptionalLong cached = count(object(usage.get(details)).get("cached_tokens"));
        OptionalLong full =
                input.isPresent() ? OptionalLong.of(Math.max(0, input.getAsLong() - cached.orElse(0))) : input;
        return new Usage(full, count(usage.get(out)), cached, OptionalLong.empty());
    }

    // ---- events of streams

    /** The texts in one event of a stream: its delta, and those of the whole answer that some events repeat. */
    static List<Part.Text> texts(ModelApi api, Map<String, Object> event) {
        List<Part.Text> texts = new ArrayList<>();
        String type = text(event.get("type"));
        switch (api) {
            case ANTHROPIC_MESSAGES -> {
                switch (type) {
                    case "content_block_delta" ->
                        add(texts, object(event.get("delta")).get("text"), "/delta/text");
                    case "content_block_start" ->
                        add(texts, object(event.get("content_block")).get("text"), "/content_block/text");
                    default -> {}
                }
            }
            case OPENAI_CHAT -> {
                List<?> choices = list(event.get("choices"));
                for (int i = 0; i < choices.size(); i++) {
                    Object delta = object(choices.get(i)).get("delta");
                    texts(parts(object(delta).get("content"), "/choices/" + i + "/delta/content"), texts);
                }
            }
            case OPENAI_RESPONSES -> {
                switch (type) {
                    case "response.output_text.delta" -> add(texts, event.get("delta"), "/delta");
                    case "response.output_text.done" -> add(texts, event.get("text"), "/text");
                    case "response.content_part.added", "response.content_part.done" -> {
                        // There are parts of reasoning too, which has text.
                        if (text(object(event.get("part")).get("type")).equals("output_text")) {
                            add(texts, object(event.get("part")).get("text"), "/part/text");
                        }
                    }
                    case "response.output_item.added", "response.output_item.done" ->
                        texts(item(object(event.get("item")), "/item"), texts);
                    default -> {
                        List<?> items = list(object(event.get("response")).get("output"));
                        for (int i = 0; i < items.size(); i++) {
                            texts(item(object(items.get(i)), pointer("/response/output", i)), texts);
                        }
                    }
                }
            }
        }
        return List.copyOf(texts);
    }

    private static void texts(List<Part> parts, List<Part.Text> texts) {
        for (Part part : parts) {
            if (part instanceof Part.Text text) {
                texts.add(text);
            }
        }
    }

    private static void add(List<Part.Text> texts, Object value, String at) {
        if (value instanceof String text) {
            texts.add(new Part.Text(text, at));
        }
    }

    // ---- parts

    /** A string, or a list of blocks. */
    private static List<Part> parts(Object content, String at) {
        if (content instanceof String text) {
            return List.of(new Part.Text(text, at));
        }
        List<Part> parts = new ArrayList<>();
        List<?> blocks = list(content);
        for (int i = 0; i < blocks.size(); i++) {
            Map<String, Object> block = object(blocks.get(i));
            String place = pointer(at, i);
            String type = text(block.get("type"));
            parts.add(
                    switch (type) {
                        case "text", "input_text", "output_text" ->
                            block.get("text") instanceof String text
                                    ? new Part.Text(text, place + "/text")
                                    : new Part.Other(type, blocks.get(i), place);
                        case "tool_use" ->
                            new Part.ToolUse(
                                    text(block.get("id")),
                                    text(block.get("name")),
                                    value(block.get("input")),
                                    place,
                                    place + "/input");
                        case "tool_result" ->
                            new Part.ToolResult(text(block.get("tool_use_id")), value(block.get("content")), place);
                        default -> new Part.Other(type, value(blocks.get(i)), place);
                    });
        }
        return parts;
    }

    /** An item of the Responses API. */
    private static List<Part> item(Map<String, Object> item, String at) {
        String type = text(item.get("type"));
        return switch (type) {
            case "message", "" -> parts(item.get("content"), at + "/content");
            case "function_call" ->
                List.of(new Part.ToolUse(
                        text(item.get("call_id")),
                        text(item.get("name")),
                        parsed(item.get("arguments")),
                        at,
                        at + "/arguments"));
            case "custom_tool_call" ->
                List.of(new Part.ToolUse(
                        text(item.get("call_id")),
                        text(item.get("name")),
                        value(item.get("input")),
                        at,
                        at + "/input"));
            case "function_call_output", "custom_tool_call_output" ->
                List.of(new Part.ToolResult(text(item.get("call_id")), value(item.get("output")), at));
            default -> List.of(new Part.Other(type, item, at));
        };
    }

    // ---- values

    /** JSON in a string, or the string. */
    static Object parsed(Object arguments) {
        if (!(arguments instanceof String text)) {
            return value(arguments);
        }
        try {
            return value(JsonText.of(text).value());
        } catch (JsonException e) {
            return text;
        }
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
    }

    private static Object value(Object value) {
        return value == null ? Map.of() : value;
    }

    private static List<?> list(Object value) {
        return value instanceof List<?> list ? list : List.of();
    }

    private static String text(Object value) {
        return value instanceof String text ? text : "";
    }

    private static OptionalLong count(Object value) {
        return value instanceof Long number && number >= 0 ? OptionalLong.of(number) : OptionalLong.empty();
    }
}
