package org.nemorelay.worker.internal.observe;

import java.util.Optional;

/** The model APIs whose calls are recorded (plugins.md 4.4, "Surfaces by path"). Other provider paths leave no event. */
enum ModelApi {
    OPENAI_RESPONSES("openai.responses", "openai_responses", "openai_response_tool_call", "codex"),
    OPENAI_CHAT("openai.chat_completions", "openai_chat", "openai_chat_tool_call", "gateway"),
    ANTHROPIC_MESSAGES("anthropic.messages", "anthropic_messages", "anthropic_tool_use", "claude-code");

    private final String route;
    private final String api;
    private final String toolSource;
    private final String agentKind;

    ModelApi(String route, String api, String toolSource, String agentKind) {
        this.route = route;
        this.api = api;
        this.toolSource = toolSource;
        this.agentKind = agentKind;
    }

    static Optional<ModelApi> ofPath(String path) {
        return switch (path) {
            case "/responses", "/v1/responses", "/backend-api/codex/responses" -> Optional.of(OPENAI_RESPONSES);
            case "/chat/completions", "/v1/chat/completions" -> Optional.of(OPENAI_CHAT);
            case "/v1/messages" -> Optional.of(ANTHROPIC_MESSAGES);
            default -> Optional.empty();
        };
    }

    /** The name of the call's scope. */
    String route() {
        return route;
    }

    /** The word in annotations. */
    String api() {
        return api;
    }

    /** What a tool scope names as the origin of its call. */
    String toolSource() {
        return toolSource;
    }

    /** Who is taken to call where no session tells. */
    String agentKind() {
        return agentKind;
    }
}
