package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.nemorelay.worker.internal.observe.RecordedForms.written;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.nemorelay.json.JsonObject;

/** Requests over the three APIs, and what another implementation recorded of them within one session. */
class AnnotatedRequestTest {
    static List<JsonObject> recorded() throws IOException {
        return RecordedForms.of("requests.jsonl");
    }

    @ParameterizedTest
    @MethodSource("recorded")
    void isBroughtToTheSameForm(JsonObject one) {
        ModelApi api = ModelApi.ofPath(one.string("path")).orElseThrow();
        Map<String, Object> recent =
                AnnotatedRequest.recent(api, one.object("body").values());
        Object annotated =
                AnnotatedRequest.of(api, recent).<Object>map(found -> found).orElse(null);
        assertEquals(written(Arrays.asList(one.values().get("annotated"))), written(Arrays.asList(annotated)));
    }
}
