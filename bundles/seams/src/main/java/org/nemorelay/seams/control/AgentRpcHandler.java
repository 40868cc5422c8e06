package org.nemorelay.seams.control;

import org.nemorelay.seams.Context;
import org.nemorelay.workerctl.McpDiscoveryRequest;
import org.nemorelay.workerctl.McpDiscoveryResponse;
import org.nemorelay.workerctl.McpToolRequest;
import org.nemorelay.workerctl.McpToolResponse;
import org.osgi.annotation.versioning.ConsumerType;

/** What an agent worker does for its callers. */
@ConsumerType
public interface AgentRpcHandler {
    /** @param context has 360 s and is not cancelled by the process's end */
    McpToolResponse executeTool(Context context, McpToolRequest request);

    /** @param context has 60 s and is not cancelled by the process's end */
    McpDiscoveryResponse discoverTools(Context context, McpDiscoveryRequest request);

    /** The node was told to stop a backend or model; nobody is answered. */
    void backendStopped(String backend);
}
