package org.nemorelay.protocol;

/** A path of the daemon that leads to a worker or a provider (relay-daemon 2). */
public sealed interface PublicRoute {
    /** The path without a query. */
    String path();

    /** The only method it takes. */
    String method();

    /** Which provider a request belongs to. */
    enum Family {
        OPENAI("openai"),
        ANTHROPIC("anthropic");

        private final String word;

        Family(String word) {
            this.word = word;
        }

        /** The word in log fields and records. */
        public String word() {
            return word;
        }
    }

    /**
     * A model request.
     *
     * @param webSocketProbe answers a GET that asks for a WebSocket with 426
     * @param catalog a list of models: never stored by caches
     */
    record Provider(String path, String method, Family family, boolean webSocketProbe, boolean catalog)
            implements PublicRoute {}

    /** A hook of a harness. */
    record Hook(HookAgent agent) implements PublicRoute {
        @Override
        public String path() {
            return agent.path();
        }

        @Override
        public String method() {
            return "POST";
        }
    }
}
