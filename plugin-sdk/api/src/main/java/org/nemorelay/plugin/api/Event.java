package org.nemorelay.plugin.api;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;

/**
 * One ATOF 0.1 event (plugins.md 1.1): a typed view over its JSON values. Immutable, safe for any thread. Unknown keys of
 * the envelope and of {@code category_profile} are kept.
 *
 * <p>JSON values are those of {@link Json}: {@code Map}, {@code List}, {@code String}, {@code Long}, {@code BigInteger},
 * {@code BigDecimal}, {@code Boolean}; inside maps and lists a Java {@code null} stands for JSON's.
 */
public final class Event {
    /** The version that {@link #toJsonLine} writes. */
    public static final String ATOF_VERSION = "0.1";

    /** What an event says: something began, something ended, or something happened at one moment. */
    public enum Kind {
        SCOPE_START,
        SCOPE_END,
        MARK
    }

    private static final List<String> NULLABLE =
            List.of("parent_uuid", "data", "data_schema", "metadata", "category_profile");

    private final Map<String, Object> values;
    private final Kind kind;
    private final Instant timestamp;

    private Event(Map<String, Object> values, Optional<Instant> time) {
        this.values = values;
        JsonObject envelope = JsonObject.of(values, "");
        String version = envelope.string("atof_version");
        if (!version.startsWith("0.")) {
            throw new JsonException("atof_version " + version + " is not one of 0.x");
        }
        envelope.string("uuid");
        envelope.string("name");
        kind = switch (envelope.string("kind")) {
            case "mark" -> Kind.MARK;
            case "scope" ->
                switch (envelope.string("scope_category")) {
                    case "start" -> Kind.SCOPE_START;
                    case "end" -> Kind.SCOPE_END;
                    default -> throw new JsonException("scope_category must be start or end");
                };
            default -> throw new JsonException("kind must be scope or mark");
        };
        if (kind != Kind.MARK) {
            envelope.string("category");
            envelope.strings("attributes");
        }
        timestamp = time.orElseGet(() -> timestampOf(values.get("timestamp")));
    }

    /**
     * The event of an envelope; its nullable keys may be missing. An {@link Instant} as {@code timestamp} is written by
     * {@link #format}.
     *
     * @throws JsonException when a required key is missing or has another type, naming it
     */
    public static Event of(Map<String, ?> envelope) {
        Map<String, Object> values = new TreeMap<>();
        Optional<Instant> time = Optional.empty();
        for (Map.Entry<String, ?> entry : envelope.entrySet()) {
            if (entry.getKey().equals("timestamp") && entry.getValue() instanceof Instant instant) {
                // Known already: to write and to read it again costs more than all the rest.
                time = Optional.of(instant);
                values.put("timestamp", format(instant));
            } else {
                values.put(entry.getKey(), frozen(entry.getValue()));
            }
        }
        for (String key : NULLABLE) {
            values.putIfAbsent(key, null);
        }
        if ("mark".equals(values.get("kind"))) {
            values.putIfAbsent("category", null);
        }
        return new Event(Collections.unmodifiableMap(values), time);
    }

    public Kind kind() {
        return kind;
    }

    /** Shared by the start and the end of a scope. */
    public String uuid() {
        return (String) values.get("uuid");
    }

    /** The enclosing scope. A uuid for which no event was seen is a root's. */
    public Optional<String> parentUuid() {
        return text("parent_uuid");
    }

    public Instant timestamp() {
        return timestamp;
    }

    public String name() {
        return (String) values.get("name");
    }

    /** One of plugins.md 1.2, or a word this version does not know; a mark may have none. */
    public Optional<String> category() {
        return text("category");
    }

    /** Sorted flags such as {@code streaming}; empty for a mark. */
    public List<String> attributes() {
        return values.get("attributes") instanceof List<?> list
                ? list.stream().map(String.class::cast).toList()
                : List.of();
    }

    /** A start's input, an end's output, a mark's payload: any JSON value. */
    public Optional<Object> data() {
        return Optional.ofNullable(values.get("data"));
    }

    /** Empty where the envelope holds none. */
    public JsonObject metadata() {
        return object("metadata");
    }

    /** Empty where the envelope holds none (plugins.md 1.3). */
    public JsonObject categoryProfile() {
        return object("category_profile");
    }

    /** With other data; null for none. */
    public Event withData(Object data) {
        return with("data", data);
    }

    /** With other metadata; null for none. */
    public Event withMetadata(Map<String, ?> metadata) {
        return with("metadata", metadata);
    }

    /** With another category profile; null for none. */
    public Event withCategoryProfile(Map<String, ?> profile) {
        return with("category_profile", profile);
    }

    /** The whole envelope, keys sorted at every depth. */
    public Map<String, Object> values() {
        return values;
    }

    /** The event as one line of JSON Lines without its end of line: sorted keys, explicit nulls (plugins.md 1.1). */
    public String toJsonLine() {
        return Json.write(values);
    }

    /** An instant as ATOF writes it: offset {@code +00:00}, fraction of 0, 3, 6 or 9 digits. */
    public static String format(Instant instant) {
        String text = instant.toString();
        return text.substring(0, text.length() - 1) + "+00:00";
    }

    @Override
    public String toString() {
        return kind + " " + name() + " " + uuid();
    }

    private Event with(String key, Object value) {
        Map<String, Object> changed = new TreeMap<>(values);
        changed.put(key, frozen(value));
        return new Event(Collections.unmodifiableMap(changed), Optional.of(timestamp));
    }

    private Optional<String> text(String key) {
        return Optional.ofNullable((String) values.get(key));
    }

    private JsonObject object(String key) {
        Object value = values.get(key);
        return JsonObject.of(value == null ? Map.of() : value, key);
    }

    private static Instant timestampOf(Object value) {
        try {
            return switch (value) {
                case String text -> OffsetDateTime.parse(text).toInstant();
                case Long micros -> Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
                case null, default ->
                    throw new JsonException("timestamp must be an RFC 3339 string or integer microseconds");
            };
        } catch (DateTimeException e) {
            throw new JsonException("timestamp " + value + " is not RFC 3339");
        }
    }

    private static Map<String, Object> sorted(Map<?, ?> map) {
        Map<String, Object> copy = new TreeMap<>();
        map.forEach((key, value) -> copy.put((String) key, frozen(value)));
        return copy;
    }

    /** A deep copy that nobody can change. */
    static Object frozen(Object value) {
        if (value instanceof String) {
            // What most of them are; the switch below takes its time.
            return value;
        }
        return switch (value) {
            case null -> null;
            case JsonObject object -> Collections.unmodifiableMap(sorted(object.values()));
            case Map<?, ?> map -> Collections.unmodifiableMap(sorted(map));
            case List<?> list -> {
                List<Object> copy = new ArrayList<>(list.size());
                for (Object item : list) {
                    copy.add(frozen(item));
                }
                yield Collections.unmodifiableList(copy);
            }
            case Integer number -> number.longValue();
            case Long number -> number;
            case BigInteger number -> number;
            case BigDecimal number -> number;
            case Double number when Double.isFinite(number) -> BigDecimal.valueOf(number);
            case Float number when Float.isFinite(number) -> new BigDecimal(number.toString());
            case Double number -> throw new JsonException(number + " has no JSON form");
            case Float number -> throw new JsonException(number + " has no JSON form");
            case Boolean flag -> flag;
            default -> throw new JsonException(value.getClass().getName() + " is not a JSON value");
        };
    }
}
