package org.nemorelay.worker.internal.observe;

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
}
