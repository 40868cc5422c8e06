package org.nemorelay.protocol.control;

import java.util.Optional;

/** Who speaks on a control socket. */
public enum Role {
    DAEMON("daemon"),
    MCP("mcp"),
    WORKER("worker");

    private final String word;

    Role(String word) {
        this.word = word;
    }

    /** The word on the wire and in signed bytes. */
    public String word() {
        return word;
    }

    public static Optional<Role> of(String word) {
        for (Role role : values()) {
            if (role.word.equals(word)) {
                return Optional.of(role);
            }
        }
        return Optional.empty();
    }
}
