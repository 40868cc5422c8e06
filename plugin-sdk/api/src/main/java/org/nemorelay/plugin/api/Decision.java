package org.nemorelay.plugin.api;

/** What a policy says to a tool call, or a guardrail to a model request. Immutable. */
public sealed interface Decision {
    /** The policy has nothing against it. It does not approve: where the agent asks its user, it still does. */
    record Allow() implements Decision {
        private static final Allow ALLOW = new Allow();
    }

    /**
     * The call must not be made.
     *
     * @param reason for the model and the user, who both read it: what is not allowed and, best, what to do instead; no
     *     secret, not blank
     */
    record Deny(String reason) implements Decision {
        public Deny {
            if (reason.isBlank()) {
                throw new IllegalArgumentException("a denial needs a reason");
            }
        }
    }

    /**
     * The agent's user shall decide. Claude Code asks its user; where an agent cannot be told to ask, as Codex and Pi
     * cannot, it is a denial with this reason.
     *
     * @param reason for the user, and for the model where it is a denial; no secret, not blank
     */
    record Ask(String reason) implements Decision {
        public Ask {
            if (reason.isBlank()) {
                throw new IllegalArgumentException("a question needs a reason");
            }
        }
    }

    static Decision allow() {
        return Allow.ALLOW;
    }

    static Decision deny(String reason) {
        return new Deny(reason);
    }

    static Decision ask(String reason) {
        return new Ask(reason);
    }
}
