package org.nemorelay.agents.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nemorelay.agents.internal.mcp.McpException;
import org.nemorelay.agents.internal.mcp.McpServers;
import org.nemorelay.agents.internal.mcp.McpServers.Server;
import org.nemorelay.agents.internal.mcp.McpSession;
import org.nemorelay.agents.internal.mcp.McpSession.Tool;
import org.nemorelay.agents.internal.mcp.McpSessions;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.control.AgentRpcHandler;
import org.nemorelay.workerctl.McpDiscoveryRequest;
import org.nemorelay.workerctl.McpDiscoveryResponse;
import org.nemorelay.workerctl.McpServerInfo;
import org.nemorelay.workerctl.McpToolDef;
import org.nemorelay.workerctl.McpToolRequest;
import org.nemorelay.workerctl.McpToolResponse;

/** The agent calls (distributed-seams 6), each with sessions of its own. Failures of servers are this worker's answers. */
final class AgentCalls implements AgentRpcHandler {
    private final McpSessions sessions;

    AgentCalls(McpSessions sessions) {
        this.sessions = sessions;
    }

    @Override
    public McpToolResponse executeTool(Context context, McpToolRequest request) {
        String what = "session error: ";
        try (McpSessions.Opened opened = sessions.open(
                context, request.modelName(), McpServers.of(request.remoteServers(), request.stdioServers()))) {
            what = "list error: ";
            for (McpSession session : opened.sessions()) {
                if (offers(context, session, request.toolName())) {
                    return run(context, session, request);
                }
            }
            return McpToolResponse.refused(
                    "no MCP server of model " + request.modelName() + " offers tool " + request.toolName());
        } catch (McpException e) {
            return McpToolResponse.refused(what + e.getMessage());
        }
    }

    private static boolean offers(Context context, McpSession session, String tool) throws McpException {
        return session.tools(context).stream().map(Tool::name).anyMatch(tool::equals);
    }

    private static McpToolResponse run(Context context, McpSession session, McpToolRequest request) {
        try {
            return new McpToolResponse(session.run(context, request.toolName(), request.arguments()), "");
        } catch (McpException e) {
            return McpToolResponse.refused(e.getMessage());
        }
    }

    /** A server that fails says so in its own place; the others are told of all the same. */
    @Override
    public McpDiscoveryResponse discoverTools(Context context, McpDiscoveryRequest request) {
        McpServers all;
        try {
            all = McpServers.of(request.remoteServers(), request.stdioServers());
        } catch (McpException e) {
            return McpDiscoveryResponse.refused("discovery error: " + e.getMessage());
        }
        List<McpServerInfo> servers = new ArrayList<>();
        List<McpToolDef> tools = new ArrayList<>();
        all.servers().forEach((name, server) -> servers.add(look(context, request.modelName(), name, server, tools)));
        return new McpDiscoveryResponse(servers, tools, "");
    }

    private McpServerInfo look(Context context, String model, String name, Server server, List<McpToolDef> tools) {
        Map<String, Server> one = new LinkedHashMap<>();
        one.put(name, server);
        String what = "session error: ";
        try (McpSessions.Opened opened = sessions.open(context, model, new McpServers(one))) {
            what = "list error: ";
            McpSession session = opened.sessions().getFirst();
            List<Tool> offered = session.tools(context);
            McpServerInfo info = new McpServerInfo(
                    name,
                    server.type(),
                    offered.stream().map(Tool::name).toList(),
                    session.prompts(context),
                    session.resources(context),
                    "");
            offered.forEach(tool -> tools.add(new McpToolDef(name, tool.name(), tool.function())));
            return info;
        } catch (McpException e) {
            return new McpServerInfo(name, server.type(), List.of(), List.of(), List.of(), what + e.getMessage());
        }
    }

    @Override
    public void backendStopped(String backend) {
        sessions.closeModel(backend);
    }
}
