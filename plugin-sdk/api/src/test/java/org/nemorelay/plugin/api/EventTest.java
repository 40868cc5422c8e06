package org.nemorelay.plugin.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;

class EventTest {
    private static final String SCOPE =
            "{\"atof_version\":\"0.1\",\"attributes\":[\"streaming\"],\"category\":\"llm\",\"category_profile\":null,"
                    + "\"data\":{\"a\":1,\"b\":null},\"data_schema\":null,\"kind\":\"scope\",\"metadata\":null,\"name\":\"n\","
                    + "\"parent_uuid\":null,\"scope_category\":\"start\",\"timestamp\":\"2026-11-29T22:15:59.091493873+00:00\","
                    + "\"uuid\":\"u\",\"x_unknown\":[{\"y\":1,\"z\":2}]}";

    @Test
    void lineHasSortedKeysAndExplicitNulls() {
        Map<String, Object> values = new HashMap<>(Json.parseObject(SCOPE).values());
        values.remove("metadata");
        values.remove("parent_uuid");
        values.put("x_unknown", List.of(Map.of("z", 2L, "y", 1L)));
        assertEquals(SCOPE, Event.of(values).toJsonLine());
    }

    @Test
    void marksCarryAnExplicitCategory() {
        Event mark = Event.of(Map.of(
                "kind", "mark", "atof_version", "0.1", "uuid", "u", "name", "m", "timestamp", 1793610000500000L));
        assertEquals(
                "{\"atof_version\":\"0.1\",\"category\":null,\"category_profile\":null,\"data\":null,\"data_schema\":null,"
                        + "\"kind\":\"mark\",\"metadata\":null,\"name\":\"m\",\"parent_uuid\":null,"
                        + "\"timestamp\":1793610000500000,\"uuid\":\"u\"}",
                mark.toJsonLine());
        assertEquals(Event.Kind.MARK, mark.kind());
        assertEquals(Instant.ofEpochMilli(1793610000500L), mark.timestamp());
        assertTrue(mark.category().isEmpty() && mark.attributes().isEmpty());
    }

    @Test
    void typedViewOfAScope() {
        Event event = Event.of(Json.parseObject(SCOPE).values());
        assertEquals(Event.Kind.SCOPE_START, event.kind());
        assertEquals(List.of("streaming"), event.attributes());
        assertEquals("2026-11-29T22:15:59.091493873+00:00", Event.format(event.timestamp()));
        assertThrows(UnsupportedOperationException.class, () -> event.values().put("a", "b"));
    }

    @Test
    void anInstantIsWrittenAsItsText() {
        Map<String, Object> values = new HashMap<>(Json.parseObject(SCOPE).values());
        Instant time = Instant.parse("2026-11-29T22:15:59.091493873Z");
        values.put("timestamp", time);
        Event event = Event.of(values);
        assertEquals(SCOPE, event.toJsonLine());
        assertEquals(time, event.timestamp());
        assertEquals(time, event.withData(Map.of("a", 2L)).timestamp());
    }

    @Test
    void refusesWhatTheFormatRequires() {
        for (String key : List.of("atof_version", "uuid", "name", "kind", "timestamp", "category", "attributes")) {
            Map<String, Object> values = new HashMap<>(Json.parseObject(SCOPE).values());
            values.remove(key);
            JsonException e = assertThrows(JsonException.class, () -> Event.of(values));
            assertTrue(e.getMessage().contains(key), e.getMessage());
        }
        Map<String, Object> major = new HashMap<>(Json.parseObject(SCOPE).values());
        major.put("atof_version", "1.0");
        assertThrows(JsonException.class, () -> Event.of(major));
    }
}
