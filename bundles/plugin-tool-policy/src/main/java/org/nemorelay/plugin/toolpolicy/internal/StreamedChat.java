package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamOutput;

/**
 * Chat Completions: calls come in pieces of each choice's message, so all that follows the first piece is held until the model
 * says why it stops.
 */
final class StreamedChat extends Holding {
    private static final List<String> MESSAGES = List.of("delta", "message");
    private static final List<String> CALLS = List.of("tool_calls", "function_call");

    private final Rules rules;
    private final ModelRequest request;
    private List<StreamEvent> held = new ArrayList<>();
    /** Choices that have begun a call and not said why they stop. */
    private final Set<Object> calling = new HashSet<>();

    /** A call as its pieces come together. */
    private record Pieces(boolean old, Map<String, Object> call, List<String> names, StringBuilder arguments) {
        boolean custom() {
            return call.containsKey("custom");
        }

        Map<String, Object> whole(long index) {
            Map<String, Object> function =
                    new LinkedHashMap<>(ModelCalls.object(call.get(custom() ? "custom" : "function")));
            function.put("name", String.join("", names));
            function.put(custom() ? "input" : "arguments", arguments.toString());
            if (old) {
                return function;
            }
            Map<String, Object> whole = new LinkedHashMap<>(call);
            whole.put("index", index);
            whole.put(custom() ? "custom" : "function", function);
            return whole;
        }
    }

    /** What of a choice's calls is let through, and what is said of the others. */
    private record Decided(List<Pieces> kept, String said) {}

    StreamedChat(Rules rules, ModelRequest request) {
        super(rules, request);
        this.rules = rules;
        this.request = request;
    }

    @Override
    void plain(StreamEvent event, StreamOutput out) {
        if (event.data().map(String::strip).equals(Optional.of("[DONE]"))) {
            decide(out);
        }
        out.emit(event);
    }

    @Override
    void event(StreamEvent event, JsonText json, StreamOutput out) {
        List<Map<String, Object>> choices = choices(json);
        for (Map<String, Object> choice : choices) {
            if (calls(choice)) {
                calling.add(choice.getOrDefault("index", 0L));
            }
        }
        if (held.isEmpty() && calling.isEmpty()) {
            pass(event, json, out);
            return;
        }
        check(unjudged(json));
        hold(event, held);
        for (Map<String, Object> choice : choices) {
            if (choice.get("finish_reason") instanceof String) {
                calling.remove(choice.getOrDefault("index", 0L));
            }
        }
        if (calling.isEmpty()) {
            decide(out);
        }
    }

    private void decide(StreamOutput out) {
        List<StreamEvent> events = held;
        held = new ArrayList<>();
        calling.clear();
        Map<Object, Decided> decided = new LinkedHashMap<>();
        gathered(events).forEach((choice, calls) -> decided.put(choice, decided(calls)));
        if (decided.values().stream().allMatch(choice -> choice.said().isEmpty())) {
            events.forEach(out::emit);
            return;
        }
        for (int i = 0; i < events.size(); i++) {
            StreamEvent event = events.get(i);
            JsonText json = event.json().orElseThrow();
            for (Map<String, Object> choice : choices(json)) {
                boolean last = choice.get("finish_reason") instanceof String || i == events.size() - 1;
                Decided found = last ? decided.remove(choice.getOrDefault("index", 0L)) : null;
                if (found != null) {
                    say(choice, found, event, json, out);
                    json = settled(json, choice, found);
                }
            }
            JsonText stripped = stripped(json);
            if (says(stripped)) {
                out.emit(stripped == event.json().orElseThrow() ? event : event.withData(stripped));
            }
        }
    }

    /** The text in the place of what was taken, and the calls that stay, in one event. */
    private static void say(
            Map<String, Object> choice, Decided decided, StreamEvent event, JsonText json, StreamOutput out) {
        Map<String, Object> delta = new LinkedHashMap<>();
        if (!decided.said().isEmpty()) {
            delta.put("content", decided.said());
        }
        List<Map<String, Object>> calls = new ArrayList<>();
        for (Pieces kept : decided.kept()) {
            if (kept.old()) {
                delta.put("function_call", kept.whole(0));
            } else {
                calls.add(kept.whole(calls.size()));
            }
        }
        if (!calls.isEmpty()) {
            delta.put("tool_calls", calls);
        }
        Map<String, Object> said =
                Json.object("index", choice.getOrDefault("index", 0L), "delta", delta, "finish_reason", null);
        out.emit(event.withData(json.with("/choices", List.of(said)).without("/usage")));
    }

    private static JsonText settled(JsonText json, Map<String, Object> choice, Decided decided) {
        return decided.kept().isEmpty()
                ? Lists.settled(
                        ModelApi.OPENAI_CHAT, json, "/choices/" + choices(json).indexOf(choice) + "/finish_reason")
                : json;
    }

    /** Without pieces of calls. */
    private static JsonText stripped(JsonText json) {
        JsonText stripped = json;
        for (int i = 0; i < choices(json).size(); i++) {
            for (String message : MESSAGES) {
                for (String calls : CALLS) {
                    stripped = stripped.without("/choices/" + i + "/" + message + "/" + calls);
                }
            }
        }
        return stripped;
    }

    /** Without pieces of calls in the shape in which they are judged. */
    private static JsonText unjudged(JsonText json) {
        JsonText rest = json;
        for (int i = 0; i < choices(json).size(); i++) {
            for (String message : MESSAGES) {
                String at = "/choices/" + i + "/" + message + "/";
                if (ModelCalls.objects(json.at(at + "tool_calls").orElse(""))) {
                    rest = rest.without(at + "tool_calls");
                }
                if (json.at(at + "function_call").orElse("") instanceof Map<?, ?>) {
                    rest = rest.without(at + "function_call");
                }
            }
        }
        return rest;
    }

    /** Whether anything is left in an event. */
    private static boolean says(JsonText json) {
        return json.at("/usage").isPresent()
                || choices(json).stream()
                        .anyMatch(choice -> choice.get("finish_reason") != null
                                || MESSAGES.stream()
                                        .anyMatch(message -> ModelCalls.object(choice.get(message)).values().stream()
                                                .anyMatch(value -> value != null && !value.equals(""))));
    }

    private Decided decided(List<Pieces> calls) {
        List<Pieces> kept = new ArrayList<>();
        StringBuilder said = new StringBuilder();
        for (Pieces each : calls) {
            List<String> names = new ArrayList<>();
            names.add(String.join("", each.names()));
            if (each.names().size() > 1) {
                // A reader may take the pieces for one name or for the same one again.
                names.addAll(each.names());
            }
            Call call = ModelCalls.function(request, names, each.arguments().toString(), !each.custom());
            Optional<String> reason = rules.taken(call);
            if (reason.isEmpty()) {
                kept.add(each);
            } else {
                said.append(said.isEmpty() ? "" : "\n\n").append(Ending.said(call, reason.get()));
            }
        }
        return new Decided(kept, said.toString());
    }

    private static Map<Object, List<Pieces>> gathered(List<StreamEvent> events) {
        Map<Object, Map<Object, Pieces>> gathered = new LinkedHashMap<>();
        for (StreamEvent event : events) {
            for (Map<String, Object> choice : choices(event.json().orElseThrow())) {
                Map<Object, Pieces> calls =
                        gathered.computeIfAbsent(choice.getOrDefault("index", 0L), index -> new LinkedHashMap<>());
                for (String key : MESSAGES) {
                    Map<String, Object> message = ModelCalls.object(choice.get(key));
                    for (Object piece : ModelCalls.list(message.get("tool_calls"))) {
                        add(ModelCalls.object(piece), calls);
                    }
                    if (message.get("function_call") instanceof Map<?, ?> old) {
                        Pieces call = calls.computeIfAbsent("function_call", index -> begun(true));
                        add(ModelCalls.object(old), "arguments", call);
                    }
                }
            }
        }
        Map<Object, List<Pieces>> lists = new LinkedHashMap<>();
        gathered.forEach((choice, calls) -> {
            if (!calls.isEmpty()) {
                lists.put(choice, List.copyOf(calls.values()));
            }
        });
        return lists;
    }

    /** A piece belongs to the call of its index, unless it has another id: some providers give all the same index, or none. */
    private static void add(Map<String, Object> piece, Map<Object, Pieces> calls) {
        Object index = piece.getOrDefault("index", "");
        String id = ModelCalls.text(piece.get("id"));
        Object key = index;
        for (Map.Entry<Object, Pieces> known : calls.entrySet()) {
            Map<String, Object> call = known.getValue().call();
            if (call.getOrDefault("index", "").equals(index)) {
                key = known.getKey();
            }
        }
        if (calls.containsKey(key)) {
            String before = ModelCalls.text(calls.get(key).call().get("id"));
            if (!id.isEmpty() && !before.isEmpty() && !id.equals(before)) {
                key = List.of(index, id);
            }
        }
        Pieces call = calls.computeIfAbsent(key, fresh -> begun(false));
        piece.forEach((name, value) -> {
            if (!name.equals("function") && !name.equals("custom")) {
                call.call().put(name, value);
            }
        });
        for (String kind : List.of("function", "custom")) {
            Map<String, Object> function = ModelCalls.object(piece.get(kind));
            if (!function.isEmpty()) {
                call.call().put(kind, Map.of());
                add(function, kind.equals("custom") ? "input" : "arguments", call);
            }
        }
    }

    private static void add(Map<String, Object> function, String arguments, Pieces call) {
        String name = ModelCalls.text(function.get("name"));
        if (!name.isEmpty()) {
            call.names().add(name);
        }
        Object piece = function.get(arguments);
        call.arguments()
                .append(
                        switch (piece) {
                            case String text -> text;
                            case null -> "";
                            default -> Json.write(piece);
                        });
    }

    private static Pieces begun(boolean old) {
        return new Pieces(old, new LinkedHashMap<>(), new ArrayList<>(), new StringBuilder());
    }

    private static boolean calls(Map<String, Object> choice) {
        return MESSAGES.stream()
                .map(key -> ModelCalls.object(choice.get(key)))
                .anyMatch(message -> CALLS.stream().anyMatch(key -> message.get(key) != null));
    }

    private static List<Map<String, Object>> choices(JsonText json) {
        return ModelCalls.list(json.at("/choices").orElse("")).stream()
                .map(ModelCalls::object)
                .toList();
    }
}
