package org.nemorelay.worker.internal.observe;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.nemorelay.plugin.api.Event;

/** Writes ATOF envelopes. Not safe for several threads. */
final class Scopes {
    private final Supplier<String> ids;
    private final Consumer<Event> sink;

    /** @param ids fresh UUIDs */
    Scopes(Supplier<String> ids, Consumer<Event> sink) {
        this.ids = ids;
        this.sink = sink;
    }

    String newId() {
        return ids.get();
    }

    /** Sends the start of a scope. {@code profile} is null where the category has none. */
    Scope start(
            Instant now,
            String uuid,
            String parent,
            String propagationRoot,
            String name,
            String category,
            Map<String, Object> profile,
            Object data,
            Map<String, Object> metadata) {
        return start(now, uuid, parent, propagationRoot, name, category, profile, data, metadata, List.of());
    }

    /** As the other one, with flags such as {@code streaming}. */
    Scope start(
            Instant now,
            String uuid,
            String parent,
            String propagationRoot,
            String name,
            String category,
            Map<String, Object> profile,
            Object data,
            Map<String, Object> metadata,
            List<String> attributes) {
        Scope scope = new Scope(uuid, parent, propagationRoot, name, category, profile, metadata, attributes, now);
        send(scope, "start", now, profile, data, metadata);
        return scope;
    }

    /** Sends the end of a scope, strictly after its start. */
    void end(Instant now, Scope scope, Map<String, Object> profile, Object data, Map<String, Object> metadata) {
        Instant earliest = scope.start().plusNanos(1000);
        send(scope, "end", now.isBefore(earliest) ? earliest : now, profile, data, metadata);
    }

    void mark(
            Instant now,
            String parent,
            String propagationRoot,
            String name,
            Object data,
            Map<String, Object> metadata) {
        Map<String, Object> values = envelope("mark", ids.get(), parent, propagationRoot, name, data, metadata, now);
        sink.accept(Event.of(values));
    }

    /** A mark whose name is also its subtype among those of the category {@code custom}. */
    void customMark(
            Instant now,
            String parent,
            String propagationRoot,
            String name,
            Object data,
            Map<String, Object> metadata) {
        Map<String, Object> values = envelope("mark", ids.get(), parent, propagationRoot, name, data, metadata, now);
        values.put("category", "custom");
        values.put("category_profile", Map.of("subtype", name));
        sink.accept(Event.of(values));
    }

    private void send(
            Scope scope,
            String category,
            Instant time,
            Map<String, Object> profile,
            Object data,
            Map<String, Object> metadata) {
        Map<String, Object> values = envelope(
                "scope", scope.uuid(), scope.parent(), scope.propagationRoot(), scope.name(), data, metadata, time);
        values.put("scope_category", category);
        values.put("category", scope.category());
        values.put("category_profile", profile);
        values.put("attributes", scope.attributes());
        sink.accept(Event.of(values));
    }

    private static Map<String, Object> envelope(
            String kind,
            String uuid,
            String parent,
            String propagationRoot,
            String name,
            Object data,
            Map<String, Object> metadata,
            Instant time) {
        Map<String, Object> values = new HashMap<>();
        values.put("kind", kind);
        values.put("atof_version", Event.ATOF_VERSION);
        values.put("uuid", uuid);
        values.put("parent_uuid", parent);
        values.put("propagation_root_uuid", propagationRoot);
        values.put("name", name);
        values.put("data", data);
        values.put("metadata", metadata);
        values.put("timestamp", time);
        return values;
    }
}
