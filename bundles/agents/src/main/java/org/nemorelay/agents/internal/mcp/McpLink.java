package org.nemorelay.agents.internal.mcp;

import java.util.Map;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.Context;

/** JSON-RPC with one MCP server, over some transport. Safe for any thread. */
interface McpLink extends AutoCloseable {
    /**
     * The result of one request.
     *
     * @throws McpException when the server refuses, breaks off or answers with something else
     * @throws org.nemorelay.seams.SeamException when the context ends first
     */
    JsonObject call(Context context, String method, Map<String, Object> params) throws McpException;

    /** Tells something that is not answered. */
    void tell(Context context, String method) throws McpException;

    /** Whether another call can be made. */
    boolean open();

    @Override
    void close();
}
