package org.nemorelay.plugin.toolpolicy.internal;

import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ModelResponse;

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
        JsonText changed = switch (response.api()) {
            case ANTHROPIC_MESSAGES -> settled(Lists.blocks(rules, request, body, "/content"), "/stop_reason", request);
            case OPENAI_RESPONSES ->
                Lists.items(rules, request, body, "/output", Map.of()).changed();
            case OPENAI_CHAT -> {
                JsonText sofar = body;
                for (int i = 0; i < choices(body); i++) {
                    Lists message = Lists.message(rules, request, sofar, "/choices/" + i + "/message");
                    sofar = settled(message, "/choices/" + i + "/finish_reason", request);
                }
                yield sofar;
            }
        };
        new Strays(rules, request).refuse(response.api() == ModelApi.OPENAI_CHAT ? unjudged(changed) : changed);
        return changed == body ? response : response.withBody(changed);
    }

    private static int choices(JsonText body) {
        return ModelCalls.list(body.at("/choices").orElse("")).size();
    }

    /** Without the calls that were judged where they belong. */
    private static JsonText unjudged(JsonText body) {
        JsonText rest = body;
        for (int i = 0; i < choices(body); i++) {
            String message = "/choices/" + i + "/message";
            if (ModelCalls.objects(rest.at(message + "/tool_calls").orElse(""))) {
                rest = rest.without(message + "/tool_calls");
            }
            if (rest.at(message + "/function_call").orElse("") instanceof Map<?, ?>) {
                rest = rest.without(message + "/function_call");
            }
        }
        return rest;
    }

    private static JsonText settled(Lists lists, String reason, ModelRequest request) {
        ModelApi api = request.api();
        return lists.taken() && !lists.called() ? Lists.settled(api, lists.changed(), reason) : lists.changed();
    }
}
