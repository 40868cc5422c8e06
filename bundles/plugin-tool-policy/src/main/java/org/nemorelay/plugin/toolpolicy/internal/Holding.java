package org.nemorelay.plugin.toolpolicy.internal;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamOutput;

/**
 * Text streams on as it comes; the events of a tool call are held back until its arguments are whole, then they go on as they
 * are, or a text takes their place. A call that never becomes whole cannot be judged, and goes no further.
 */
abstract class Holding implements StreamHandler {
    /** No agent's call is near this size; what is would fill the worker's memory. */
    private static final long MAX_HELD_BYTES = 32L << 20;

    private long heldBytes;

    private final Strays strays;

    Holding(Rules rules, ModelRequest request) {
        strays = new Strays(rules, request);
    }

    @Override
    public final CompletionStage<Void> onEvent(StreamEvent event, StreamOutput out) {
        StreamEvent told = Fields.of(event);
        Optional<JsonText> json = told.json();
        if (json.isPresent()) {
            event(told, json.get(), out);
        } else if (harmless(told)) {
            plain(told, out);
        }
        return DONE;
    }

    /** Passes on what holds no call in its place, and must not hold one elsewhere. */
    final void pass(StreamEvent event, JsonText json, StreamOutput out) {
        strays.refuse(json);
        out.emit(json == event.json().orElseThrow() ? event : event.withData(json));
    }

    /** Of a part of an event that is held: see {@link #pass}. */
    final void check(JsonText json) {
        strays.refuse(json);
    }

    /** A comment, the mark at the end; what else is no JSON object may be one for a reader that is less strict. */
    private static boolean harmless(StreamEvent event) {
        String data = event.data().orElse("").strip();
        return data.isEmpty() || data.equals("[DONE]") || scalar(data);
    }

    private static boolean scalar(String data) {
        try {
            Object value = Json.parse(data);
            return !(value instanceof Map<?, ?> || value instanceof List<?>);
        } catch (JsonException e) {
            return false;
        }
    }

    abstract void event(StreamEvent event, JsonText json, StreamOutput out);

    /** An event that is no JSON. */
    void plain(StreamEvent event, StreamOutput out) {
        out.emit(event);
    }

    final void hold(StreamEvent event, List<StreamEvent> held) {
        heldBytes += event.length();
        if (heldBytes > MAX_HELD_BYTES) {
            throw new IllegalStateException("the answer's tool calls are larger than " + MAX_HELD_BYTES + " bytes");
        }
        held.add(event);
    }
}
