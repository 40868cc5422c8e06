package org.nemorelay.seams;

/** What a queue carries. The carrier's route table is the one place that turns a kind into an address. */
public enum WorkKind {
    TASK("task"),
    MCP_CI("mcp-ci"),
    AGENT_RUN("agent-run");

    private final String word;

    WorkKind(String word) {
        this.word = word;
    }

    /** The name in logs and configuration. */
    public String word() {
        return word;
    }
}
