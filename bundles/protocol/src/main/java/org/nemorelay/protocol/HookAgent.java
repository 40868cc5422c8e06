package org.nemorelay.protocol;

import java.util.Optional;

/** The harnesses whose hooks the daemon takes. */
public enum HookAgent {
    CODEX("codex"),
    CLAUDE_CODE("claude-code"),
    PI("pi");

    private final String word;

    HookAgent(String word) {
        this.word = word;
    }

    /** The word in paths and records. */
    public String word() {
        return word;
    }

    /** The agent a command line names; {@code claude} and {@code claude-code} are one. */
    public static Optional<HookAgent> ofArgument(String argument) {
        return switch (argument) {
            case "codex" -> Optional.of(CODEX);
            case "claude", "claude-code" -> Optional.of(CLAUDE_CODE);
            case "pi" -> Optional.of(PI);
            default -> Optional.empty();
        };
    }

    /** The path on daemon and worker. */
    public String path() {
        return "/hooks/" + word;
    }

    /** The JSON body that lets the agent go on. */
    public String allowAnswer() {
        return this == CLAUDE_CODE ? "{\"continue\":true}" : "{}";
    }
}
