package org.nemorelay.worker.internal.observe;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** What another implementation recorded, and a form in which values compare whatever the order of their keys. */
final class RecordedForms {
    private RecordedForms() {}

    /** The objects of a file in the folder {@code annotated}. */
    static List<JsonObject> of(String file) throws IOException {
        try (InputStream in = RecordedForms.class.getResourceAsStream("/annotated/" + file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(Json::parseObject)
                    .toList();
        }
    }

    static String written(Object value) {
        return Json.write(sorted(value));
    }

    private static Object sorted(Object value) {
        return switch (value) {
            case Map<?, ?> map -> {
                Map<String, Object> sorted = new TreeMap<>();
                map.forEach((key, inner) -> sorted.put((String) key, sorted(inner)));
                yield sorted;
            }
            case List<?> list ->
                list.stream().map(RecordedForms::sorted).collect(Collectors.toCollection(ArrayList::new));
            case null, default -> value;
        };
    }
}
