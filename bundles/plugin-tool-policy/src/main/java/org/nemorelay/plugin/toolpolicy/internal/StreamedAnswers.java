package org.nemorelay.plugin.toolpolicy.internal;

import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;

/** Takes denied tool calls out of streamed answers. */
final class StreamedAnswers implements StreamIntercept {
    private final Rules rules;

    StreamedAnswers(Rules rules) {
        this.rules = rules;
    }

    @Override
    public StreamHandler open(ModelRequest request, ModelResponse.Streamed response) {
        return switch (request.api()) {
            case ANTHROPIC_MESSAGES -> new StreamedMessages(rules, request);
            case OPENAI_RESPONSES -> new StreamedResponses(rules, request);
            case OPENAI_CHAT -> new StreamedChat(rules, request);
        };
    }
}
