package org.nemorelay.carriers.internal;

import org.nemorelay.seams.Context;
import org.nemorelay.seams.control.AgentControl;
import org.nemorelay.workerctl.McpDiscoveryRequest;
import org.nemorelay.workerctl.McpDiscoveryResponse;
import org.nemorelay.workerctl.McpToolRequest;
import org.nemorelay.workerctl.McpToolResponse;

/** Agent calls; each keeps the carrier it began with. */
final class AgentControlFacade implements AgentControl {
    private final Lane lane;

    AgentControlFacade(Lane lane) {
        this.lane = lane;
    }

    @Override
    public McpToolResponse executeTool(Context context, McpToolRequest request) {
        return lane.call(carrier -> carrier.agentControl().executeTool(context, request));
    }

    @Override
    public McpDiscoveryResponse discoverTools(Context context, McpDiscoveryRequest request) {
        return lane.call(carrier -> carrier.agentControl().discoverTools(context, request));
    }
}
