package org.nemorelay.workerctl.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;

/** Reads fields as peers of another version may send them: what is missing or null is empty, what has the wrong type is an error. */
public final class FieldReader {
    private final JsonObject object;

    public FieldReader(JsonObject object) {
        this.object = object;
    }

    public String string(String key) {
        return object.has(key) ? object.string(key) : "";
    }

    public boolean bool(String key) {
        return object.has(key) && object.bool(key);
    }

    public int int32(String key) {
        return object.has(key) ? (int) object.integer(key, Integer.MIN_VALUE, Integer.MAX_VALUE) : 0;
    }

    public long int64(String key) {
        return object.has(key) ? object.integer(key, Long.MIN_VALUE, Long.MAX_VALUE) : 0;
    }

    public double number(String key) {
        return switch (object.values().get(key)) {
            case null -> 0;
            case Number number -> number.doubleValue();
            default -> throw new JsonException(key + " must be a number");
        };
    }

    public List<String> strings(String key) {
        return object.has(key) ? object.strings(key) : List.of();
    }

    public Map<String, Object> object(String key) {
        return object.has(key) ? object.object(key).values() : Map.of();
    }

    public <T> List<T> records(String key, Function<JsonObject, T> reader) {
        if (!object.has(key)) {
            return List.of();
        }
        List<T> records = new ArrayList<>();
        for (JsonObject item : object.objects(key)) {
            records.add(reader.apply(item));
        }
        return records;
    }
}
