package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.StreamOutput;
import org.nemorelay.plugin.toolpolicy.internal.WholeAnswers.Ending;

/**
 * Takes denied tool calls out of streamed answers. Text streams on as it comes; the events of a tool call are held back until
 * its arguments are whole, then they go on as they are, or a text takes their place.
 */
final class StreamedAnswers implements StreamIntercept {
    private final Rules rules;

    StreamedAnswers(Rules rules) {
        this.rules = rules;
    }

    @Override
    public StreamHandler open(ModelRequest request, ModelResponse.Streamed response) {
        return switch (request.api()) {
            case ANTHROPIC_MESSAGES -> new Messages(request);
            case OPENAI_RESPONSES -> new Responses(request);
            case OPENAI_CHAT -> new Chat(request);
        };
    }

    /** Holds what it has to, and lets go of it at the end at the latest. */
    private abstract static class Holding implements StreamHandler {
        final List<StreamEvent> held = new ArrayList<>();

        @Override
        public CompletionStage<Void> onEvent(StreamEvent event, StreamOutput out) {
            Optional<JsonText> json = event.json();
            if (json.isEmpty()) {
                other(event, out);
            } else {
                event(event, json.get(), out);
            }
            return DONE;
        }

        /** An event without JSON: a comment, or the mark at the end. */
        void other(StreamEvent event, StreamOutput out) {
            out.emit(event);
        }

        abstract void event(StreamEvent event, JsonText json, StreamOutput out);

        /** A call that never became whole cannot be judged, and the agent could not make it. */
        @Override
        public CompletionStage<Void> onEnd(StreamOutput out) {
            return DONE;
        }

        void release(StreamOutput out) {
            held.forEach(out::emit);
            held.clear();
        }
    }

    private static Object parsed(String arguments) {
        try {
            return arguments.isEmpty() ? Map.of() : Json.parse(arguments);
        } catch (JsonException e) {
            return arguments;
        }
    }

    private static StreamEvent made(ModelApi api, Object... keysAndValues) {
        return StreamEvent.of(api, JsonText.ofValue(Json.object(keysAndValues)));
    }

    private final class Messages extends Holding {
        private final ModelRequest request;
        private final StringBuilder input = new StringBuilder();
        private Object index = "";
        private String tool = "";
        private boolean called;
        private boolean taken;

        Messages(ModelRequest request) {
            this.request = request;
        }

        @Override
        void event(StreamEvent event, JsonText json, StreamOutput out) {
            String type = event.type();
            boolean mine = !held.isEmpty() && json.at("/index").equals(Optional.of(index));
            if (type.equals("content_block_start")
                    && json.string("/content_block/type").equals(Optional.of("tool_use"))) {
                held.add(event);
                index = json.at("/index").orElse("");
                tool = json.string("/content_block/name").orElse("");
                input.setLength(0);
            } else if (mine && type.equals("content_block_delta")) {
                held.add(event);
                json.string("/delta/partial_json").ifPresent(input::append);
            } else if (mine && type.equals("content_block_stop")) {
                held.add(event);
                decide(out);
            } else if (type.equals("message_delta")
                    && taken
                    && !called
                    && json.string("/delta/stop_reason").equals(Optional.of("tool_use"))) {
                out.emit(event.withData(json.with("/delta/stop_reason", "end_turn")));
            } else {
                out.emit(event);
            }
        }

        private void decide(StreamOutput out) {
            Optional<String> reason = rules.taken(Call.of(request, tool, parsed(input.toString())));
            if (reason.isEmpty()) {
                called = true;
                release(out);
                return;
            }
            taken = true;
            held.clear();
            ModelApi api = ModelApi.ANTHROPIC_MESSAGES;
            out.emit(made(
                    api,
                    "type",
                    "content_block_start",
                    "index",
                    index,
                    "content_block",
                    Json.object("type", "text", "text", "")));
            out.emit(made(
                    api,
                    "type",
                    "content_block_delta",
                    "index",
                    index,
                    "delta",
                    Json.object("type", "text_delta", "text", Ending.said(tool, reason.get()))));
            out.emit(made(api, "type", "content_block_stop", "index", index));
        }
    }

    private final class Responses extends Holding {
        private final ModelRequest request;
        private final Map<Object, Map<String, Object>> taken = new LinkedHashMap<>();
        private Object index = "";

        Responses(ModelRequest request) {
            this.request = request;
        }

        @Override
        void event(StreamEvent event, JsonText json, StreamOutput out) {
            String type = event.type();
            String item = json.string("/item/type").orElse("");
            boolean call = item.equals("function_call") || item.equals("custom_tool_call");
            boolean mine = !held.isEmpty() && json.at("/output_index").equals(Optional.of(index));
            if (call && type.equals("response.output_item.added")) {
                release(out);
                held.add(event);
                index = json.at("/output_index").orElse("");
            } else if (call && type.equals("response.output_item.done")) {
                held.add(event);
                decide(json, out);
            } else if (mine) {
                held.add(event);
            } else if (!taken.isEmpty() && json.at("/response/output").isPresent()) {
                JsonText changed = json;
                for (Map.Entry<Object, Map<String, Object>> each : taken.entrySet()) {
                    String place = "/response/output/" + each.getKey();
                    if (changed.at(place).isPresent()) {
                        changed = changed.with(place, each.getValue());
                    }
                }
                out.emit(event.withData(changed));
            } else {
                out.emit(event);
            }
        }

        private void decide(JsonText done, StreamOutput out) {
            String tool = done.string("/item/name").orElse("");
            Object input = done.string("/item/type").equals(Optional.of("function_call"))
                    ? parsed(done.string("/item/arguments").orElse(""))
                    : done.at("/item/input").orElse(Map.of());
            Optional<String> reason = rules.taken(Call.of(request, tool, input));
            if (reason.isEmpty()) {
                release(out);
                return;
            }
            Object place = done.at("/output_index").orElse(0L);
            Object number = held.getFirst()
                    .json()
                    .flatMap(json -> json.at("/sequence_number"))
                    .orElse(0L);
            held.clear();
            String text = Ending.said(tool, reason.get());
            Map<String, Object> message = Ending.message("/" + place, text);
            taken.put(place, message);
            Object id = message.get("id");
            Map<String, Object> begun = new LinkedHashMap<>(message);
            begun.put("status", "in_progress");
            begun.put("content", List.of());
            Map<String, Object> part = Json.object("type", "output_text", "annotations", List.of(), "text", "");
            Map<String, Object> whole = Json.object("type", "output_text", "annotations", List.of(), "text", text);
            List<Map<String, Object>> events = List.of(
                    Json.object("type", "response.output_item.added", "item", begun),
                    Json.object(
                            "type", "response.content_part.added", "item_id", id, "content_index", 0L, "part", part),
                    Json.object(
                            "type", "response.output_text.delta", "item_id", id, "content_index", 0L, "delta", text),
                    Json.object("type", "response.output_text.done", "item_id", id, "content_index", 0L, "text", text),
                    Json.object(
                            "type", "response.content_part.done", "item_id", id, "content_index", 0L, "part", whole),
                    Json.object("type", "response.output_item.done", "item", message));
            for (Map<String, Object> each : events) {
                each.put("output_index", place);
                each.put("sequence_number", number);
                out.emit(StreamEvent.of(ModelApi.OPENAI_RESPONSES, JsonText.ofValue(each)));
            }
        }
    }

    /** Its tool calls come in pieces of one message, so all are held until the model says why it stops. */
    private final class Chat extends Holding {
        private final ModelRequest request;

        Chat(ModelRequest request) {
            this.request = request;
        }

        @Override
        void other(StreamEvent event, StreamOutput out) {
            if (!held.isEmpty() && event.data().equals(Optional.of("[DONE]"))) {
                held.clear();
            }
            out.emit(event);
        }

        @Override
        void event(StreamEvent event, JsonText json, StreamOutput out) {
            boolean calls =
                    choices(json).stream().anyMatch(choice -> delta(choice).containsKey("tool_calls"));
            if (held.isEmpty() && !calls) {
                out.emit(event);
                return;
            }
            held.add(event);
            if (choices(json).stream().anyMatch(choice -> object(choice).get("finish_reason") instanceof String)) {
                decide(out);
            }
        }

        private void decide(StreamOutput out) {
            Map<Object, Map<String, Object>> calls = new LinkedHashMap<>();
            for (StreamEvent event : held) {
                for (Object choice : choices(event.json().orElseThrow())) {
                    if (delta(choice).get("tool_calls") instanceof List<?> pieces) {
                        pieces.forEach(piece -> add(calls, object(piece)));
                    }
                }
            }
            List<Map<String, Object>> kept = new ArrayList<>();
            StringBuilder said = new StringBuilder();
            for (Map<String, Object> call : calls.values()) {
                Map<String, Object> function = object(call.get("function"));
                String tool = String.valueOf(function.getOrDefault("name", ""));
                Optional<String> reason = rules.taken(
                        Call.of(request, tool, parsed(String.valueOf(function.getOrDefault("arguments", "")))));
                if (reason.isEmpty()) {
                    call.put("index", (long) kept.size());
                    kept.add(call);
                } else {
                    said.append(said.isEmpty() ? "" : "\n\n").append(Ending.said(tool, reason.get()));
                }
            }
            if (said.isEmpty()) {
                release(out);
                return;
            }
            StreamEvent last = held.getLast();
            JsonText ending = last.json().orElseThrow();
            Map<String, Object> delta = Json.object("content", said.toString());
            if (!kept.isEmpty()) {
                delta.put("tool_calls", kept);
            }
            out.emit(last.withData(ending.with("/choices/0/delta", delta).with("/choices/0/finish_reason", null)));
            out.emit(last.withData(ending.with("/choices/0/delta", Map.of())
                    .with("/choices/0/finish_reason", kept.isEmpty() ? "stop" : "tool_calls")));
            held.clear();
        }

        private static void add(Map<Object, Map<String, Object>> calls, Map<String, Object> piece) {
            Map<String, Object> call =
                    calls.computeIfAbsent(piece.getOrDefault("index", 0L), index -> new LinkedHashMap<>());
            piece.forEach((key, value) -> {
                if (!key.equals("function")) {
                    call.put(key, value);
                }
            });
            Map<String, Object> function = new LinkedHashMap<>(object(call.get("function")));
            object(piece.get("function")).forEach((key, value) -> {
                if (value instanceof String text) {
                    function.merge(key, text, (before, more) -> before + (String) more);
                }
            });
            call.put("function", function);
        }

        private static List<?> choices(JsonText json) {
            return json.at("/choices").orElse(List.of()) instanceof List<?> list ? list : List.of();
        }

        private static Map<String, Object> delta(Object choice) {
            return object(object(choice).get("delta"));
        }

        @SuppressWarnings("unchecked")
        private static Map<String, Object> object(Object value) {
            return value instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
        }
    }
}
