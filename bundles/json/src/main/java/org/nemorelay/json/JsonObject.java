package org.nemorelay.json;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A typed view of a JSON object; every failure is a {@link JsonException} that names the key's whole path. Immutable. */
public final class JsonObject {
    private static final BigInteger UNSIGNED_MAX = BigInteger.TWO.pow(64).subtract(BigInteger.ONE);

    private final Map<String, Object> values;
    private final String path;

    private JsonObject(Map<String, Object> values, String path) {
        this.values = Collections.unmodifiableMap(values);
        this.path = path;
    }

    /** View of a value that {@link Json#parse} returned; {@code path} is what failures put before the key ("" at the top). */
    @SuppressWarnings("unchecked")
    public static JsonObject of(Object value, String path) {
        if (value instanceof Map<?, ?> map) {
            return new JsonObject((Map<String, Object>) map, path);
        }
        throw new JsonException((path.isEmpty() ? "the JSON value" : path) + " must be an object");
    }

    public Map<String, Object> values() {
        return values;
    }

    public Set<String> keys() {
        return values.keySet();
    }

    /** Refuses keys other than the known ones. */
    public JsonObject only(String... known) {
        for (String key : values.keySet()) {
            if (!List.of(known).contains(key)) {
                throw new JsonException(at(key) + " is not a known key");
            }
        }
        return this;
    }

    public boolean has(String key) {
        return values.get(key) != null;
    }

    public String string(String key) {
        return as(key, String.class, "a string");
    }

    public Optional<String> optionalString(String key) {
        return has(key) ? Optional.of(string(key)) : Optional.empty();
    }

    public boolean bool(String key) {
        return as(key, Boolean.class, "a boolean");
    }

    /** An integer from {@code min} to {@code max}, both included. */
    public long integer(String key, long min, long max) {
        Object value = required(key);
        if (value instanceof Long number && number >= min && number <= max) {
            return number;
        }
        throw new JsonException(at(key) + " must be an integer from " + min + " to " + max);
    }

    /** An unsigned 64-bit integer in the bits of a {@code long}; print it with {@link Long#toUnsignedString(long)}. */
    public long unsigned64(String key) {
        Object value = required(key);
        if (value instanceof Long number && number >= 0) {
            return number;
        }
        if (value instanceof BigInteger number && number.signum() >= 0 && number.compareTo(UNSIGNED_MAX) <= 0) {
            return number.longValue();
        }
        throw new JsonException(at(key) + " must be an unsigned 64-bit integer");
    }

    public JsonObject object(String key) {
        return of(required(key), at(key));
    }

    public Optional<JsonObject> optionalObject(String key) {
        return has(key) ? Optional.of(object(key)) : Optional.empty();
    }

    public List<?> array(String key) {
        return as(key, List.class, "an array");
    }

    public List<JsonObject> objects(String key) {
        List<JsonObject> objects = new ArrayList<>();
        int index = 0;
        for (Object item : array(key)) {
            objects.add(of(item, at(key) + "[" + index++ + "]"));
        }
        return objects;
    }

    public List<String> strings(String key) {
        List<String> strings = new ArrayList<>();
        for (Object item : array(key)) {
            if (!(item instanceof String text)) {
                throw new JsonException(at(key) + " must be an array of strings");
            }
            strings.add(text);
        }
        return strings;
    }

    /** Bytes written as an array of integers 0..255. */
    public byte[] bytes(String key) {
        List<?> items = array(key);
        byte[] bytes = new byte[items.size()];
        for (int i = 0; i < bytes.length; i++) {
            if (!(items.get(i) instanceof Long number) || number < 0 || number > 255) {
                throw new JsonException(at(key) + "[" + i + "] must be an integer from 0 to 255");
            }
            bytes[i] = (byte) number.longValue();
        }
        return bytes;
    }

    /** Exactly {@code length} bytes written as an array of integers 0..255. */
    public byte[] bytes(String key, int length) {
        byte[] bytes = bytes(key);
        if (bytes.length != length) {
            throw new JsonException(at(key) + " must hold " + length + " bytes, it holds " + bytes.length);
        }
        return bytes;
    }

    private Object required(String key) {
        Object value = values.get(key);
        if (value == null) {
            throw new JsonException(at(key) + " is missing");
        }
        return value;
    }

    private <T> T as(String key, Class<T> type, String name) {
        Object value = required(key);
        if (!type.isInstance(value)) {
            throw new JsonException(at(key) + " must be " + name);
        }
        return type.cast(value);
    }

    private String at(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }
}
