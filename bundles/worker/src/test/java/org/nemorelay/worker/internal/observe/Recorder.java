package org.nemorelay.worker.internal.observe;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.pipeline.Stages;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.pluginhost.EventSink;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.HookAgent;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.worker.internal.hook.HookPayload;

/** A subscriber that keeps every line. */
final class Recorder implements EventLog {
    final List<String> log = new CopyOnWriteArrayList<>();
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private volatile CountDownLatch hold = new CountDownLatch(0);
    private final Snapshot snapshot = new Snapshot(List.of(new Sink()), List.of(), Stages.NONE);

    TrafficEvents events(Map<String, Object> pluginConfig, int captureBytes) {
        return events(() -> pluginConfig, captureBytes);
    }

    TrafficEvents events(Supplier<Map<String, Object>> pluginConfig, int captureBytes) {
        return new TrafficEvents(() -> snapshot, pluginConfig, new Ids()::uuid7, this, captureBytes);
    }

    static CompletableFuture<Void> hook(TrafficEvents events, HookAgent agent, String payload) {
        return events.hook(new HookPayload(agent, Json.parse(payload)), payload.length(), Ruling.NONE);
    }

    /** Lets nothing be taken until the latch opens. */
    void holdUntil(CountDownLatch latch) {
        hold = latch;
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    /** The only event of this name and, for a scope, this category; empty stands for a mark. */
    JsonObject only(String name, String category) {
        List<JsonObject> found = lines.stream()
                .map(Json::parseObject)
                .filter(event -> event.string("name").equals(name)
                        && event.optionalString("scope_category").orElse("").equals(category))
                .toList();
        if (found.size() != 1) {
            throw new AssertionError(found.size() + " events " + name + " " + category + " in " + lines);
        }
        return found.getFirst();
    }

    @Override
    public boolean enabled(Level level) {
        return true;
    }

    @Override
    public void log(Level level, String target, String event, String message, Object... fields) {
        log.add(event);
    }

    @Override
    public void flush() {}

    private final class Sink implements EventSink {
        @Override
        public void publish(Event event) {
            try {
                hold.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            lines.add(event.toJsonLine());
        }

        @Override
        public CompletableFuture<Void> taken() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<Void> flush() {
            return CompletableFuture.completedFuture(null);
        }
    }
}
