package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
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

/** Anthropic Messages: each call is a block with an index of its own. */
final class StreamedMessages extends Holding {
    private static final Set<String> KINDS = Set.of(
            "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta");

    private final Rules rules;
    private final ModelRequest request;
    private final Map<Object, Begun> open = new HashMap<>();
    /** Ids of calls that were taken out. */
    private final Set<Object> gone = new HashSet<>();
    /** Indexes of results that were taken out, while they last. */
    private final Set<Object> dropped = new HashSet<>();

    private boolean called;
    private boolean taken;

    private record Begun(Map<String, Object> block, List<StreamEvent> events, StringBuilder input) {}

    StreamedMessages(Rules rules, ModelRequest request) {
        super(rules, request);
        this.rules = rules;
        this.request = request;
    }

    @Override
    void event(StreamEvent event, JsonText json, StreamOutput out) {
        Object index = json.at("/index").orElse("");
        switch (kind(event, json)) {
            case "message_start" -> {
                Lists begun = Lists.blocks(rules, request, json, "/message/content");
                taken |= begun.taken();
                called |= begun.called();
                pass(event, begun.changed(), out);
            }
            case "content_block_start" -> start(index, event, json, out);
            case "content_block_delta" -> {
                Optional<String> piece = json.string("/delta/partial_json");
                if (open.containsKey(index)) {
                    Begun begun = open.get(index);
                    check(json);
                    hold(event, begun.events());
                    piece.ifPresent(begun.input()::append);
                } else if (piece.isEmpty() && !dropped.contains(index)) {
                    pass(event, json, out);
                }
            }
            case "content_block_stop" -> {
                if (open.containsKey(index)) {
                    Begun begun = open.remove(index);
                    check(json);
                    hold(event, begun.events());
                    decide(index, begun, out);
                } else if (!dropped.remove(index)) {
                    pass(event, json, out);
                }
            }
            case "message_delta" -> {
                boolean none = (taken || !open.isEmpty()) && !called;
                JsonText settled = none ? Lists.settled(ModelApi.ANTHROPIC_MESSAGES, json, "/delta/stop_reason") : json;
                pass(event, settled, out);
            }
            default -> pass(event, json, out);
        }
    }

    /**
     * What the event is for a reader who goes by its name, by the type in its data or by what it holds.
     *
     * @throws IllegalStateException where that is more than one thing
     */
    private static String kind(StreamEvent event, JsonText json) {
        Set<String> kinds = new HashSet<>();
        event.name().ifPresent(kinds::add);
        json.string("/type").ifPresent(kinds::add);
        kinds.retainAll(KINDS);
        if (json.at("/content_block").isPresent()) {
            kinds.add("content_block_start");
        }
        if (json.at("/delta/partial_json").isPresent()) {
            kinds.add("content_block_delta");
        }
        if (json.at("/message/content").isPresent()) {
            kinds.add("message_start");
        }
        if (kinds.size() > 1) {
            throw new IllegalStateException("an event of the stream is " + kinds.size() + " things at once");
        }
        return kinds.isEmpty() ? "" : kinds.iterator().next();
    }

    private void start(Object index, StreamEvent event, JsonText json, StreamOutput out) {
        Map<String, Object> block = ModelCalls.object(json.at("/content_block").orElse(""));
        open.remove(index);
        dropped.remove(index);
        if (ModelCalls.block(request, block).isPresent()) {
            Begun begun = new Begun(block, new ArrayList<>(), new StringBuilder());
            open.put(index, begun);
            check(json.without("/content_block"));
            hold(event, begun.events());
            return;
        }
        Optional<String> said = Lists.result(block, gone);
        if (said.isPresent()) {
            dropped.add(index);
            say(index, said.get(), out);
        } else {
            pass(event, json, out);
        }
    }

    private void decide(Object index, Begun begun, StreamOutput out) {
        Call call = ModelCalls.block(request, begun.block(), begun.input().toString())
                .orElseThrow();
        Optional<String> reason = rules.taken(call);
        if (reason.isEmpty()) {
            called = true;
            begun.events().forEach(out::emit);
            return;
        }
        taken = true;
        gone.add(begun.block().getOrDefault("id", ""));
        say(index, Ending.said(call, reason.get()), out);
    }

    private static void say(Object index, String text, StreamOutput out) {
        emit(out, "type", "content_block_start", "index", index, "content_block", Ending.block(""));
        emit(
                out,
                "type",
                "content_block_delta",
                "index",
                index,
                "delta",
                Json.object("type", "text_delta", "text", text));
        emit(out, "type", "content_block_stop", "index", index);
    }

    private static void emit(StreamOutput out, Object... keysAndValues) {
        out.emit(StreamEvent.of(ModelApi.ANTHROPIC_MESSAGES, JsonText.ofValue(Json.object(keysAndValues))));
    }
}
