package org.nemorelay.worker.internal.observe;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;

/** Puts the events of a streamed answer together to what the provider would have sent in one piece. Not safe for several threads. */
sealed interface StreamedAnswer {
    static StreamedAnswer of(ModelApi api) {
        return switch (api) {
            case ANTHROPIC_MESSAGES -> new Messages();
            case OPENAI_RESPONSES -> new Responses();
            case OPENAI_CHAT -> new Chat();
        };
    }

    /** One event of the stream. */
    void event(Map<String, Object> event);

    /** Whether the provider's last event was seen. */
    boolean complete();

    /** The answer as far as it came; empty when nothing came that an answer can be made of. */
    Optional<Map<String, Object>> answer();

    /** The data of one event as it stands in the stream; what is no JSON object is nobody's event. */
    default void data(String text) {
        if (text.equals("[DONE]")) {
            done();
            return;
        }
        try {
            event(objectOf(Json.parse(text)));
        } catch (JsonException e) {
            // The stream is not ours to judge: the client gets it as it is.
        }
    }

    /** The mark with which Chat Completions ends its streams. */
    default void done() {}

    /** A JSON object's entries, or none. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> objectOf(Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
    }

    private static int indexOf(Object value) {
        return value instanceof Long number ? number.intValue() : 0;
    }

    /** Appends to a text entry. */
    private static void append(Map<String, Object> object, String key, Object more) {
        if (more instanceof String text) {
            object.merge(key, text, (old, add) -> old instanceof String before ? before + add : add);
        }
    }

    /** Anthropic Messages. */
    final class Messages implements StreamedAnswer {
        private static final Set<String> ENVELOPE = Set.of("type", "delta", "usage");

        private final Map<String, Object> message = new LinkedHashMap<>();
        private final Map<String, Object> usage = new LinkedHashMap<>();
        private final TreeMap<Integer, Map<String, Object>> blocks = new TreeMap<>();
        private final Map<Integer, StringBuilder> inputs = new LinkedHashMap<>();
        private boolean complete;

        @Override
        public void event(Map<String, Object> event) {
            int index = indexOf(event.get("index"));
            switch (String.valueOf(event.get("type"))) {
                case "message_start" -> {
                    message.putAll(objectOf(event.get("message")));
                    usage.putAll(objectOf(message.get("usage")));
                }
                case "content_block_start" ->
                    blocks.put(index, new LinkedHashMap<>(objectOf(event.get("content_block"))));
                case "content_block_delta" -> delta(index, objectOf(event.get("delta")));
                case "content_block_stop" -> stop(index);
                case "message_delta" -> {
                    event.forEach((key, value) -> {
                        if (!ENVELOPE.contains(key)) {
                            message.put(key, value);
                        }
                    });
                    message.putAll(objectOf(event.get("delta")));
                    usage.putAll(objectOf(event.get("usage")));
                }
                case "message_stop" -> complete = true;
                default -> {}
            }
        }

        private void delta(int index, Map<String, Object> delta) {
            Map<String, Object> block = blocks.computeIfAbsent(index, absent -> new LinkedHashMap<>());
            switch (String.valueOf(delta.get("type"))) {
                case "text_delta" -> append(block, "text", delta.get("text"));
                case "thinking_delta" -> append(block, "thinking", delta.get("thinking"));
                case "signature_delta" -> append(block, "signature", delta.get("signature"));
                case "input_json_delta" ->
                    inputs.computeIfAbsent(index, absent -> new StringBuilder()).append(delta.get("partial_json"));
                case "citations_delta" -> {
                    List<Object> citations =
                            new ArrayList<>(block.get("citations") instanceof List<?> list ? list : List.of());
                    citations.add(delta.get("citation"));
                    block.put("citations", citations);
                }
                default -> {}
            }
        }

        private void stop(int index) {
            StringBuilder input = inputs.remove(index);
            if (input != null && !input.isEmpty()) {
                blocks.get(index).put("input", Answers.parsed(input.toString()));
            }
        }

        @Override
        public boolean complete() {
            return complete;
        }

        @Override
        public Optional<Map<String, Object>> answer() {
            if (message.isEmpty()) {
                return Optional.empty();
            }
            List.copyOf(inputs.keySet()).forEach(this::stop);
            message.put("content", List.copyOf(blocks.values()));
            message.put("usage", usage);
            return Optional.of(message);
        }
    }

    /**
     * OpenAI Responses: the last event carries the whole response, with some providers without its items; these and the items of a
     * stream that broke off came before, each in an event of its own.
     */
    final class Responses implements StreamedAnswer {
        private final TreeMap<Integer, Object> items = new TreeMap<>();
        private Map<String, Object> response = Map.of();
        private boolean complete;

        @Override
        public void event(Map<String, Object> event) {
            Map<String, Object> carried = objectOf(event.get("response"));
            if (!carried.isEmpty()) {
                response = carried;
            }
            switch (String.valueOf(event.get("type"))) {
                case "response.completed", "response.incomplete", "response.failed" -> complete = true;
                case "response.output_item.done" -> items.put(indexOf(event.get("output_index")), event.get("item"));
                default -> {}
            }
        }

        @Override
        public boolean complete() {
            return complete;
        }

        @Override
        public Optional<Map<String, Object>> answer() {
            if (response.isEmpty()) {
                return Optional.empty();
            }
            Map<String, Object> answer = new LinkedHashMap<>(response);
            boolean whole = complete && response.get("output") instanceof List<?> list && !list.isEmpty();
            if (!whole && !items.isEmpty()) {
                answer.put("output", new ArrayList<>(items.values()));
            }
            return Optional.of(answer);
        }
    }

    /** OpenAI Chat Completions. */
    final class Chat implements StreamedAnswer {
        private final Map<String, Object> completion = new LinkedHashMap<>();
        private final TreeMap<Integer, Choice> choices = new TreeMap<>();
        private boolean complete;

        private static final class Choice {
            final Map<String, Object> fields = new LinkedHashMap<>();
            final Map<String, Object> message = new LinkedHashMap<>();
            final TreeMap<Integer, Map<String, Object>> toolCalls = new TreeMap<>();
        }

        @Override
        public void event(Map<String, Object> event) {
            event.forEach((key, value) -> {
                if (!key.equals("choices") && (value != null || !completion.containsKey(key))) {
                    completion.put(key, value);
                }
            });
            if (event.get("choices") instanceof List<?> list) {
                list.forEach(item -> choice(objectOf(item)));
            }
        }

        private void choice(Map<String, Object> event) {
            Choice choice = choices.computeIfAbsent(indexOf(event.get("index")), absent -> new Choice());
            event.forEach((key, value) -> {
                if (!key.equals("delta")) {
                    choice.fields.put(key, value);
                }
            });
            objectOf(event.get("delta")).forEach((key, value) -> {
                if (key.equals("tool_calls") && value instanceof List<?> calls) {
                    calls.forEach(call -> toolCall(choice, objectOf(call)));
                } else if (value instanceof Map<?, ?>) {
                    pieces(choice.message, key, objectOf(value));
                } else if (value instanceof List<?> more) {
                    blocks(choice.message, key, more);
                } else if (key.equals("role") || !(value instanceof String)) {
                    choice.message.putIfAbsent(key, value);
                } else {
                    append(choice.message, key, value);
                }
            });
        }

        private static void toolCall(Choice choice, Map<String, Object> delta) {
            Map<String, Object> call =
                    choice.toolCalls.computeIfAbsent(indexOf(delta.get("index")), absent -> new LinkedHashMap<>());
            delta.forEach((key, value) -> {
                if (value instanceof Map<?, ?>) {
                    pieces(call, key, objectOf(value));
                } else if (!key.equals("index")) {
                    call.put(key, value);
                }
            });
        }

        /** Content in blocks: a text that goes on is one, so that what is looked for in it is found. */
        private static void blocks(Map<String, Object> message, String key, List<?> more) {
            List<Object> blocks = new ArrayList<>(message.get(key) instanceof List<?> before ? before : List.of());
            for (Object block : more) {
                if (!blocks.isEmpty() && isText(blocks.getLast()) && isText(block)) {
                    Map<String, Object> text = new LinkedHashMap<>(objectOf(blocks.removeLast()));
                    append(text, "text", objectOf(block).get("text"));
                    blocks.add(text);
                } else {
                    blocks.add(block);
                }
            }
            message.put(key, blocks);
        }

        private static boolean isText(Object block) {
            Map<String, Object> object = objectOf(block);
            return object.size() == 2 && "text".equals(object.get("type")) && object.get("text") instanceof String;
        }

        /** A function or custom call, an audio: an object whose texts come in pieces. */
        private static void pieces(Map<String, Object> around, String key, Map<String, Object> more) {
            Map<String, Object> object = new LinkedHashMap<>(objectOf(around.get(key)));
            more.forEach((name, part) -> {
                if (part instanceof String) {
                    append(object, name, part);
                } else {
                    object.put(name, part);
                }
            });
            around.put(key, object);
        }

        @Override
        public void done() {
            complete = true;
        }

        @Override
        public boolean complete() {
            return complete;
        }

        @Override
        public Optional<Map<String, Object>> answer() {
            if (choices.isEmpty()) {
                return Optional.empty();
            }
            Map<String, Object> answer = new LinkedHashMap<>(completion);
            answer.put("object", "chat.completion");
            answer.values().removeIf(java.util.Objects::isNull);
            List<Object> list = new ArrayList<>();
            choices.forEach((index, choice) -> {
                Map<String, Object> fields = new LinkedHashMap<>(choice.fields);
                Map<String, Object> message = new LinkedHashMap<>(choice.message);
                message.putIfAbsent("content", null);
                if (!choice.toolCalls.isEmpty()) {
                    message.put("tool_calls", List.copyOf(choice.toolCalls.values()));
                }
                fields.put("message", message);
                list.add(fields);
            });
            answer.put("choices", list);
            return Optional.of(answer);
        }
    }
}
