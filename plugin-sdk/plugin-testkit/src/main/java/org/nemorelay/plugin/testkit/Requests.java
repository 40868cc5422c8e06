package org.nemorelay.plugin.testkit;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;

/** Requests as agents make them. */
public final class Requests {
    private Requests() {}

    /** One user message, asked for as a stream. */
    public static ModelRequest streamed(ModelApi api, String text) {
        return request(api, text, true);
    }

    /** One user message, asked for as a whole. */
    public static ModelRequest whole(ModelApi api, String text) {
        return request(api, text, false);
    }

    /** A request with this body. */
    public static ModelRequest of(ModelApi api, String body) {
        return ModelRequest.of(api, path(api), headers(), JsonText.of(body));
    }

    private static ModelRequest request(ModelApi api, String text, boolean stream) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("model", api == ModelApi.ANTHROPIC_MESSAGES ? "claude-x" : "gpt-x");
        body.put("stream", stream);
        Map<String, Object> message = Json.object("role", "user", "content", text);
        switch (api) {
            case OPENAI_RESPONSES -> body.put("input", List.of(message));
            case OPENAI_CHAT -> body.put("messages", List.of(message));
            case ANTHROPIC_MESSAGES -> {
                body.put("max_tokens", 1024L);
                body.put("messages", List.of(message));
            }
        }
        return of(api, Json.write(body));
    }

    private static String path(ModelApi api) {
        return switch (api) {
            case OPENAI_CHAT -> "/v1/chat/completions";
            case OPENAI_RESPONSES -> "/v1/responses";
            case ANTHROPIC_MESSAGES -> "/v1/messages";
        };
    }

    private static HeaderMap headers() {
        return HeaderMap.of().with("content-type", "application/json").with("user-agent", "agent/1.0");
    }
}
