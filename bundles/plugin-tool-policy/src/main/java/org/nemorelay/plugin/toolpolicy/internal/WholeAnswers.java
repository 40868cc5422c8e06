package org.nemorelay.plugin.toolpolicy.internal;

import java.util.List;
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
                int choices = body.at("/choices").orElse("") instanceof List<?> list ? list.size() : 0;
                for (int i = 0; i < choices; i++) {
                    Lists message = Lists.message(rules, request, sofar, "/choices/" + i + "/message");
                    sofar = settled(message, "/choices/" + i + "/finish_reason", request);
                }
                yield sofar;
            }
        };
        return changed == body ? response : response.withBody(changed);
    }

    private static JsonText settled(Lists lists, String reason, ModelRequest request) {
        ModelApi api = request.api();
        return lists.taken() && !lists.called() ? Lists.settled(api, lists.changed(), reason) : lists.changed();
    }
}
