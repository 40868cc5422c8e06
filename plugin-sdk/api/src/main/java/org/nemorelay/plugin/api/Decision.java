package org.nemorelay.plugin.api;

/** What a policy says to a tool call. Immutable. */
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

    static Decision allow() {
        return Allow.ALLOW;
    }

    static Decision deny(String reason) {
        return new Deny(reason);
    }
}
