package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamOutput;

/** The Responses API: each call is an item with a place of its own, and the last event repeats them all. */
final class StreamedResponses extends Holding {
    private final Rules rules;
    private final ModelRequest request;
    private final Map<Object, Begun> open = new HashMap<>();
    private final Map<Object, Map<String, Object>> taken = new HashMap<>();
    private final Set<Object> allowed = new HashSet<>();
    private final Map<Object, Object> places = new HashMap<>();

    private record Begun(List<Map<String, Object>> shapes, List<StreamEvent> events, StringBuilder input) {}

    StreamedResponses(Rules rules, ModelRequest request) {
        super(rules, request);
        this.rules = rules;
        this.request = request;
    }

    @Override
    void event(StreamEvent event, JsonText json, StreamOutput out) {
        Map<String, Object> item = ModelCalls.object(json.at("/item").orElse(""));
        Object place = place(json);
        if (ModelCalls.isCall(item)) {
            boolean added = types(event, json).allMatch("response.output_item.added"::equals);
            Begun begun = open.remove(place);
            if (begun == null || added) {
                begun = new Begun(new ArrayList<>(), new ArrayList<>(), new StringBuilder());
            }
            begun.shapes().add(item);
            check(json.without("/item"));
            hold(event, begun.events());
            if (added) {
                open.put(place, begun);
            } else {
                decide(place, begun, out);
            }
        } else if (json.at("/response/output").isPresent()) {
            Lists items = Lists.items(rules, request, json, "/response/output", taken);
            pass(event, items.changed(), out);
        } else if (open.containsKey(place)) {
            Begun begun = open.get(place);
            check(json.without("/arguments").without("/input").without("/code"));
            hold(event, begun.events());
            json.string("/delta").ifPresent(begun.input()::append);
            Map<String, Object> whole = new LinkedHashMap<>(begun.shapes().getFirst());
            for (String key : List.of("arguments", "input", "code")) {
                json.string("/" + key).ifPresent(text -> whole.put(key, text));
            }
            begun.shapes().add(whole);
        } else if (!taken.containsKey(place)
                && (known(place, json) || types(event, json).noneMatch(type -> type.contains("_call")))) {
            pass(event, json, out);
        }
    }

    /** What the event is for a reader who goes by its name, and for one who goes by the type in its data. */
    private static Stream<String> types(StreamEvent event, JsonText json) {
        return Stream.concat(event.name().stream(), json.string("/type").stream());
    }

    /** Where the event's item stands; what tells only the item's id is about the place where that began. */
    private Object place(JsonText json) {
        Optional<Object> id = json.at("/item_id").or(() -> json.at("/item/id"));
        Object place = json.at("/output_index")
                .orElseGet(
                        () -> id.map(known -> places.getOrDefault(known, known)).orElse(""));
        id.ifPresent(known -> places.putIfAbsent(known, place));
        return place;
    }

    /** Of a call that was let through, and without arguments that could change it. */
    private boolean known(Object place, JsonText json) {
        return allowed.contains(place)
                && json.at("/delta").isEmpty()
                && json.at("/arguments").isEmpty()
                && json.at("/input").isEmpty();
    }

    private void decide(Object place, Begun begun, StreamOutput out) {
        Call call = ModelCalls.item(request, begun.shapes(), begun.input().toString());
        Optional<String> reason = rules.taken(call);
        if (reason.isEmpty()) {
            allowed.add(place);
            begun.events().forEach(out::emit);
            return;
        }
        Object number = begun.events()
                .getFirst()
                .json()
                .flatMap(json -> json.at("/sequence_number"))
                .orElse(0L);
        String text = Ending.said(call, reason.get());
        Map<String, Object> message = Ending.message(place, text);
        taken.put(place, message);
        Object id = message.get("id");
        Map<String, Object> started = new LinkedHashMap<>(message);
        started.put("status", "in_progress");
        started.put("content", List.of());
        Map<String, Object> part = Json.object("type", "output_text", "annotations", List.of(), "text", "");
        Map<String, Object> whole = Json.object("type", "output_text", "annotations", List.of(), "text", text);
        List<Map<String, Object>> events = List.of(
                Json.object("type", "response.output_item.added", "item", started),
                Json.object("type", "response.content_part.added", "item_id", id, "content_index", 0L, "part", part),
                Json.object("type", "response.output_text.delta", "item_id", id, "content_index", 0L, "delta", text),
                Json.object("type", "response.output_text.done", "item_id", id, "content_index", 0L, "text", text),
                Json.object("type", "response.content_part.done", "item_id", id, "content_index", 0L, "part", whole),
                Json.object("type", "response.output_item.done", "item", message));
        for (Map<String, Object> each : events) {
            each.put("output_index", place);
            each.put("sequence_number", number);
            out.emit(StreamEvent.of(ModelApi.OPENAI_RESPONSES, JsonText.ofValue(each)));
        }
    }
}
