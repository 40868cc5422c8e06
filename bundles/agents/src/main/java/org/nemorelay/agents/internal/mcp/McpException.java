package org.nemorelay.agents.internal.mcp;

/** An MCP server that cannot be used, or does not do what it was asked. */
public final class McpException extends Exception {
    private static final long serialVersionUID = 1L;

    McpException(String message) {
        super(message);
    }
}
