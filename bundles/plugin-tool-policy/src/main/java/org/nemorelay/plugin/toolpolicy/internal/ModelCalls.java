package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.plugin.api.ModelRequest;

/**
 * The tool calls of the three APIs in the shapes in which answers hold them, those that the provider itself carries out
 * included. Stateless.
 */
final class ModelCalls {
    private ModelCalls() {}

    /** A block of Anthropic Messages; empty for one that is no call. */
    static Optional<Call> block(ModelRequest request, Map<String, Object> block) {
        return block(request, block, "");
    }

    /** @param streamed the arguments that came in pieces */
    static Optional<Call> block(ModelRequest request, Map<String, Object> block, String streamed) {
        if (!isCall(block)) {
            return Optional.empty();
        }
        List<Object> inputs = new ArrayList<>();
        for (String key : List.of("input", "arguments")) {
            Object value = block.get(key);
            if (value != null && !value.equals(Map.of()) && !value.equals("")) {
                inputs.add(value);
            }
        }
        if (!streamed.isEmpty()) {
            inputs.add(streamed);
        }
        return Optional.of(call(request, names(block), inputs, true));
    }

    /** By its type, or by its name and arguments, whatever its type is. */
    static boolean isCall(Map<String, Object> item) {
        String type = type(item);
        return type.endsWith("tool_use")
                || type.endsWith("_call")
                || type.equals("mcp_approval_request")
                || item.get("name") instanceof String && (item.containsKey("arguments") || item.containsKey("input"));
    }

    static String type(Map<String, Object> item) {
        return text(item.get("type")).strip().toLowerCase(Locale.ROOT);
    }

    /**
     * A call of the Responses API.
     *
     * @param shapes the item in each shape in which the answer has it
     * @param streamed the arguments that came in pieces
     */
    static Call item(ModelRequest request, List<Map<String, Object>> shapes, String streamed) {
        Set<String> names = new LinkedHashSet<>();
        Set<Object> inputs = new LinkedHashSet<>();
        if (!streamed.isEmpty()) {
            inputs.add(streamed);
        }
        boolean json = false;
        boolean known = false;
        boolean sure = true;
        for (Map<String, Object> item : shapes) {
            String type = type(item);
            List<String> own = item.get("name") instanceof String
                    ? names(item)
                    : List.of(type.endsWith("_call") ? type.substring(0, type.length() - 5) : type);
            sure &= names.isEmpty() || names.containsAll(own);
            names.addAll(own);
            for (String key : List.of("arguments", "input", "action", "operation", "code")) {
                Object value = item.get(key);
                known |= value != null;
                if (value != null && !value.equals("")) {
                    inputs.add(value);
                }
            }
            json |= !type.equals("custom_tool_call");
        }
        if (inputs.isEmpty() && !known) {
            inputs.add(shapes.getLast());
        }
        Call call = call(request, List.copyOf(names), List.copyOf(inputs), json);
        return sure ? call : unsure(call);
    }

    /** A call of Chat Completions, with every name that the answer gives it. */
    static Call function(ModelRequest request, List<String> names, Object arguments, boolean json) {
        Call call = call(request, names, List.of(arguments), json);
        return names.size() == 1 ? call : unsure(call);
    }

    private static Call unsure(Call call) {
        return new Call(call.agent(), call.names(), call.commands(), call.paths(), call.runs(), false, false, false);
    }

    /** @param json whether a text among the inputs should be JSON */
    private static Call call(ModelRequest request, List<String> names, List<Object> inputs, boolean json) {
        List<Object> read = new ArrayList<>();
        boolean sure = true;
        for (Object input : inputs) {
            Object value = input;
            if (json && input instanceof String text) {
                try {
                    value = text.isBlank() ? Map.of() : Json.parse(text);
                    sure &= value instanceof Map<?, ?>;
                } catch (JsonException e) {
                    sure = false;
                }
            }
            if (!read.contains(value)) {
                read.add(value);
            }
        }
        return switch (read.size()) {
            case 0 -> Call.of(request, names, Map.of(), sure);
            case 1 -> Call.of(request, names, read.getFirst(), sure);
            default -> {
                // It is for the client to say which of them holds, so all are seen.
                List<Object> seen = new ArrayList<>();
                read.forEach(value -> seen.add(value instanceof String text ? Map.of("command", text) : value));
                yield Call.of(request, names, seen, false);
            }
        };
    }

    /** The names by which rules may mean it: its own, and that of a tool of an MCP server as hooks have it. */
    private static List<String> names(Map<String, Object> call) {
        String server = text(call.getOrDefault("server_name", call.get("server_label")));
        String name = text(call.get("name"));
        String space = text(call.get("namespace"));
        List<String> names = new ArrayList<>();
        if (!space.isEmpty()) {
            names.add(space + (space.endsWith("__") ? "" : "__") + name);
        }
        names.add(name);
        if (!server.isEmpty()) {
            names.add("mcp__" + server + "__" + name);
        }
        return names;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
    }

    static List<?> list(Object value) {
        return value instanceof List<?> list ? list : List.of();
    }

    /** Whether it is a list of objects alone. */
    static boolean objects(Object value) {
        return value instanceof List<?> list && list.stream().allMatch(Map.class::isInstance);
    }

    static String text(Object value) {
        return value instanceof String text ? text : "";
    }
}
