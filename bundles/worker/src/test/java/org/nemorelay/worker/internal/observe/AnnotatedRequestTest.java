package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** Requests over the three APIs, and what another implementation recorded of them within one session. */
class AnnotatedRequestTest {
    static List<JsonObject> recorded() throws IOException {
        try (InputStream in = AnnotatedRequestTest.class.getResourceAsStream("/annotated/requests.jsonl")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(Json::parseObject)
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("recorded")
    void isBroughtToTheSameForm(JsonObject one) {
        ModelApi api = ModelApi.ofPath(one.string("path")).orElseThrow();
        Map<String, Object> recent =
                AnnotatedRequest.recent(api, one.object("body").values());
        Object annotated =
                AnnotatedRequest.of(api, recent).<Object>map(found -> found).orElse(null);
        assertEquals(
                Json.write(Arrays.asList(sorted(one.values().get("annotated")))),
                Json.write(Arrays.asList(sorted(annotated))));
    }

    private static Object sorted(Object value) {
        return switch (value) {
            case Map<?, ?> map -> {
                Map<String, Object> sorted = new TreeMap<>();
                map.forEach((key, inner) -> sorted.put((String) key, sorted(inner)));
                yield sorted;
            }
            case List<?> list ->
                list.stream().map(AnnotatedRequestTest::sorted).collect(Collectors.toCollection(ArrayList::new));
            case null, default -> value;
        };
    }
}
