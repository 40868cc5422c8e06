package org.nemorelay.seams.control;

import org.nemorelay.seams.Context;
import org.nemorelay.workerctl.McpDiscoveryRequest;
import org.nemorelay.workerctl.McpDiscoveryResponse;
import org.nemorelay.workerctl.McpToolRequest;
import org.nemorelay.workerctl.McpToolResponse;
import org.osgi.annotation.versioning.ProviderType;

/**
 * MCP calls to one agent worker, whichever takes it (distributed-seams 6). A decoded reply is returned even when its
 * {@code error} is set. Without a deadline in the context a tool call has 360 s and a discovery 60 s; a spent deadline is a
 * {@link org.nemorelay.seams.TimedOutException} and nothing is sent. A carrier may ignore the context's cancellation.
 * No agent worker: {@link org.nemorelay.seams.NoRouteException}. Pinned by {@code AgentRpcConformance}.
 */
@ProviderType
public interface AgentControl {
    McpToolResponse executeTool(Context context, McpToolRequest request);

    McpDiscoveryResponse discoverTools(Context context, McpDiscoveryRequest request);
}
