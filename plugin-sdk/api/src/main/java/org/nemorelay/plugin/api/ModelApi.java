package org.nemorelay.plugin.api;

import java.util.Optional;

/** The model APIs whose calls plugins see (plugins.md 4.4). Requests to other provider paths pass them by. */
public enum ModelApi {
    OPENAI_CHAT("openai_chat"),
    OPENAI_RESPONSES("openai_responses"),
    ANTHROPIC_MESSAGES("anthropic_messages");

    private final String word;

    ModelApi(String word) {
        this.word = word;
    }

    /** The word in records and configuration. */
    public String word() {
        return word;
    }

    /** The API of a request's path, without its query; empty for a path that plugins do not see. */
    public static Optional<ModelApi> ofPath(String path) {
        return switch (path) {
            case "/responses", "/v1/responses", "/backend-api/codex/responses" -> Optional.of(OPENAI_RESPONSES);
            case "/chat/completions", "/v1/chat/completions" -> Optional.of(OPENAI_CHAT);
            case "/v1/messages" -> Optional.of(ANTHROPIC_MESSAGES);
            default -> Optional.empty();
        };
    }
}
