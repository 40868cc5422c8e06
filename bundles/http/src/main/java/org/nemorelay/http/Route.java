package org.nemorelay.http;

import java.util.Map;
import java.util.Optional;

/** The public paths that carry a harness's traffic (relay-daemon 2). Every other path is none of theirs. */
public sealed interface Route {
    /** The one method that the path takes. */
    String method();

    /** Whose hooks. */
    enum Agent {
        CODEX("codex", "{}"),
        CLAUDE_CODE("claude-code", "{\"continue\":true}"),
        PI("pi", "{}");

        private final String word;
        private final String allowAnswer;

        Agent(String word, String allowAnswer) {
            this.word = word;
            this.allowAnswer = allowAnswer;
        }

        /** The word in paths, log fields and records. */
        public String word() {
            return word;
        }

        /** The JSON body that lets the agent go on. */
        public String allowAnswer() {
            return allowAnswer;
        }
    }

    /** Whose wire format, and with it which upstream. */
    enum Family {
        OPENAI("openai"),
        ANTHROPIC("anthropic");

        private final String word;

        Family(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }
    }

    record Hook(Agent agent) implements Route {
        @Override
        public String method() {
            return "POST";
        }
    }

    /**
     * A request to a model provider.
     *
     * @param modelCatalog answers are never cached
     * @param responses one of the paths on which a WebSocket probe is answered 426
     */
    record Provider(Family family, String method, boolean modelCatalog, boolean responses) implements Route {}

    /** The route of a path without its query. */
    static Optional<Route> of(String path) {
        return Optional.ofNullable(Table.PATHS.get(path));
    }

    /** The table; apart, because an interface's fields are public. */
    final class Table {
        private static final Provider RESPONSES = new Provider(Family.OPENAI, "POST", false, true);
        private static final Provider OPENAI = new Provider(Family.OPENAI, "POST", false, false);
        private static final Provider MODELS = new Provider(Family.OPENAI, "GET", true, false);
        private static final Provider ANTHROPIC = new Provider(Family.ANTHROPIC, "POST", false, false);

        private static final Map<String, Route> PATHS = Map.ofEntries(
                Map.entry("/hooks/codex", new Hook(Agent.CODEX)),
                Map.entry("/hooks/claude-code", new Hook(Agent.CLAUDE_CODE)),
                Map.entry("/hooks/pi", new Hook(Agent.PI)),
                Map.entry("/responses", RESPONSES),
                Map.entry("/v1/responses", RESPONSES),
                Map.entry("/backend-api/codex/responses", RESPONSES),
                Map.entry("/chat/completions", OPENAI),
                Map.entry("/v1/chat/completions", OPENAI),
                Map.entry("/v1/images/generations", OPENAI),
                Map.entry("/models", MODELS),
                Map.entry("/v1/models", MODELS),
                Map.entry("/v1/messages", ANTHROPIC),
                Map.entry("/v1/messages/count_tokens", ANTHROPIC));

        private Table() {}
    }
}
