package org.nemorelay.plugin.testkit;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.nemorelay.json.JsonText;
import org.nemorelay.pipeline.EventSplitter;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.StreamEvent;

/**
 * What became of a request.
 *
 * @param sent what the provider got, once for each time
 * @param body what the agent gets, as far as it came
 * @param whole whether the answer came to its end
 */
public record Exchange(
        ModelApi api, List<ModelRequest> sent, int status, HeaderMap headers, String body, boolean whole) {
    /** The answer's JSON. */
    public JsonText json() {
        return JsonText.of(body);
    }

    /** The answer's events, where it is a stream. */
    public List<StreamEvent> events() {
        EventSplitter splitter = new EventSplitter(api);
        List<StreamEvent> events = new ArrayList<>(splitter.add(body.getBytes(StandardCharsets.UTF_8)));
        events.addAll(splitter.rest());
        return events;
    }

    /** The text that a streamed answer adds up to, without what later events repeat. */
    public String streamedText() {
        StringBuilder text = new StringBuilder();
        for (StreamEvent event : events()) {
            if (api == ModelApi.OPENAI_CHAT || event.type().endsWith("delta")) {
                event.texts().forEach(part -> text.append(part.text()));
            }
        }
        return text.toString();
    }
}
