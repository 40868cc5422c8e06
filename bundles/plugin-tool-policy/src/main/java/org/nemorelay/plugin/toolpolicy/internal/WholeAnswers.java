package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.Part;

/** Takes denied tool calls out of answers of one piece; the model's text says why in their place. */
final class WholeAnswers implements ExecutionIntercept {
    private final Rules rules;

    WholeAnswers(Rules rules) {
        this.rules = rules;
    }

    @Override
    public CompletionStage<ModelResponse> execute(ModelRequest request, Next next) {
        return next.proceed(request).thenApply(response -> switch (response) {
            case ModelResponse.Whole whole when whole.status() / 100 == 2 -> without(request, whole);
            default -> response;
        });
    }

    private ModelResponse.Whole without(ModelRequest request, ModelResponse.Whole response) {
        JsonText body = response.body();
        boolean called = false;
        boolean taken = false;
        // From the last one back, so that the places of those before it stay what they are.
        for (Part part : response.output().reversed()) {
            if (part instanceof Part.ToolUse use) {
                Optional<String> reason = rules.taken(Call.of(request, use));
                called |= reason.isEmpty();
                if (reason.isPresent()) {
                    taken = true;
                    body = without(response, body, use, reason.get());
                }
            }
        }
        return taken ? response.withBody(called ? body : Ending.settled(response.api(), body)) : response;
    }

    private static JsonText without(ModelResponse response, JsonText body, Part.ToolUse use, String reason) {
        String text = Ending.said(use.name(), reason);
        return switch (response.api()) {
            case ANTHROPIC_MESSAGES -> body.with(use.pointer(), Json.object("type", "text", "text", text));
            case OPENAI_RESPONSES -> body.with(use.pointer(), Ending.message(use.pointer(), text));
            case OPENAI_CHAT -> {
                String message = use.pointer().substring(0, use.pointer().indexOf("/tool_calls"));
                String said = body.string(message + "/content")
                        .map(before -> before + "\n\n" + text)
                        .orElse(text);
                JsonText fewer = body.without(use.pointer()).with(message + "/content", said);
                boolean none = fewer.at(message + "/tool_calls")
                        .filter(calls -> calls instanceof List<?> list && list.isEmpty())
                        .isPresent();
                yield none ? fewer.without(message + "/tool_calls") : fewer;
            }
        };
    }

    /** How an answer ends that has lost its tool calls. */
    static final class Ending {
        private Ending() {}

        static String said(String tool, String reason) {
            return "[The call of the tool " + tool + " was blocked: " + reason + "]";
        }

        static Map<String, Object> message(String id, String text) {
            return Json.object(
                    "type",
                    "message",
                    "id",
                    "msg_blocked" + id.replace('/', '_'),
                    "status",
                    "completed",
                    "role",
                    "assistant",
                    "content",
                    List.of(Json.object("type", "output_text", "annotations", new ArrayList<>(), "text", text)));
        }

        /** With the reason for which a model stops that has no call to make. */
        static JsonText settled(org.nemorelay.plugin.api.ModelApi api, JsonText body) {
            return switch (api) {
                case ANTHROPIC_MESSAGES ->
                    body.string("/stop_reason").equals(Optional.of("tool_use"))
                            ? body.with("/stop_reason", "end_turn")
                            : body;
                case OPENAI_RESPONSES -> body;
                case OPENAI_CHAT -> {
                    JsonText changed = body;
                    List<?> choices = body.at("/choices").orElse(List.of()) instanceof List<?> list ? list : List.of();
                    for (int i = 0; i < choices.size(); i++) {
                        String reason = "/choices/" + i + "/finish_reason";
                        if (changed.string(reason).equals(Optional.of("tool_calls"))) {
                            changed = changed.with(reason, "stop");
                        }
                    }
                    yield changed;
                }
            };
        }
    }
}
