package org.nemorelay.worker.internal.observe;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.pipeline.ContentCodings;

/**
 * A request's body for the record.
 *
 * @param coding its content coding, empty for none
 * @param limit how large it may be when it is plain
 */
record RequestCopy(byte[] bytes, String coding, int limit) {
    /** What it says; empty where that is no JSON object, or cannot be read. */
    Optional<Map<String, Object>> content() {
        try {
            return Optional.of(StreamedAnswer.objectOf(Json.parse(ContentCodings.decode(bytes, coding, limit))))
                    .filter(content -> !content.isEmpty());
        } catch (JsonException | ContentCodings.Unreadable e) {
            return Optional.empty();
        }
    }

    /**
     * The request brought to one form (plugins.md 1.3); empty for the APIs whose form is not known from the stock program's
     * records.
     */
    static Optional<Map<String, Object>> annotated(ModelApi api, Map<String, Object> body) {
        if (api != ModelApi.ANTHROPIC_MESSAGES) {
            return Optional.empty();
        }
        Map<String, Object> annotated = new LinkedHashMap<>();
        annotated.put("api_specific", Map.of("api", api.api()));
        if (body.get("system") instanceof String instructions) {
            annotated.put("instructions", instructions);
        }
        Map<String, Object> params = new LinkedHashMap<>();
        for (String key : List.of("max_tokens", "temperature", "top_p")) {
            if (body.get(key) != null) {
                params.put(key, body.get(key));
            }
        }
        annotated.put("params", params);
        for (String key : List.of("messages", "model", "stream")) {
            if (body.get(key) != null) {
                annotated.put(key, body.get(key));
            }
        }
        return Optional.of(annotated);
    }
}
