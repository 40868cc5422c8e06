package org.nemorelay.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.StreamEvent;

/**
 * An error that the relay tells the agent in its API's form (plugins.md 4.3): what every API's clients read, and in it the
 * relay's own {@code type} and, of a guardrail, its {@code reason}.
 *
 * @param reason a guardrail's, for the user; empty for every other error
 */
public record Refusal(int status, String message, Optional<String> reason) {
    private static final String REJECTED = "nemo_relay_guardrail_rejected";
    private static final String ERROR = "nemo_relay_gateway_error";

    /** A guardrail's denial. */
    public static Refusal denied(String reason) {
        return new Refusal(403, "guardrail rejected: " + reason, Optional.of(reason));
    }

    /** Every other error. */
    public static Refusal error(int status, String message) {
        return new Refusal(status, message, Optional.empty());
    }

    /** What no plugin could judge: a body that is no JSON object, says something twice, or goes deeper than is read. */
    public static Optional<Refusal> unreadable(ModelRequest request) {
        try {
            request.body().object();
            return Optional.empty();
        } catch (JsonException e) {
            return Optional.of(error(400, "plugins cannot judge the request's body: " + e.getMessage()));
        }
    }

    /** @param limit {@code max_passthrough_body_bytes} */
    public static Refusal tooLarge(long limit) {
        return error(
                413,
                "payload too large: the request's body exceeds max_passthrough_body_bytes (" + limit
                        + " bytes), which plugins may hold");
    }

    /** The body. */
    public String json(ModelApi api) {
        return Json.write(body(api));
    }

    /** The event that ends a stream which cannot go on. */
    public StreamEvent event(ModelApi api) {
        return switch (api) {
            case ANTHROPIC_MESSAGES -> StreamEvent.of(api, Optional.of("error"), json(api));
            case OPENAI_CHAT -> StreamEvent.of(api, Optional.empty(), json(api));
            case OPENAI_RESPONSES ->
                StreamEvent.of(
                        api,
                        JsonText.ofValue(
                                Json.object("type", "error", "code", type(), "message", message, "param", null)));
        };
    }

    byte[] bytes(ModelApi api) {
        return json(api).getBytes(StandardCharsets.UTF_8);
    }

    private Map<String, Object> body(ModelApi api) {
        Map<String, Object> error = new TreeMap<>();
        error.put("message", message);
        error.put("type", type());
        reason.ifPresent(text -> error.put("reason", text));
        if (api == ModelApi.ANTHROPIC_MESSAGES) {
            return Json.object("error", error, "type", "error");
        }
        error.put("code", type());
        error.put("param", null);
        return Json.object("error", error);
    }

    private String type() {
        return reason.isPresent() ? REJECTED : ERROR;
    }
}
