package org.nemorelay.pluginhost;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.nemorelay.plugin.api.Event;

/** The plugin services that one request runs with. Immutable. */
public record Snapshot(List<EventSink> eventSinks) {
    public Snapshot {
        eventSinks = List.copyOf(eventSinks);
    }

    /** Whether anybody receives events: without, none need be built. */
    public boolean observed() {
        return !eventSinks.isEmpty();
    }

    /** Hands an event to every subscriber. */
    public void publish(Event event) {
        for (EventSink sink : eventSinks) {
            sink.publish(event);
        }
    }

    /** Completes when every subscriber has taken and flushed what was published before the call. */
    public CompletableFuture<Void> flush() {
        return CompletableFuture.allOf(eventSinks.stream().map(EventSink::flush).toArray(CompletableFuture[]::new));
    }
}
