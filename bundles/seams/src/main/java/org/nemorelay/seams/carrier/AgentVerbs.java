package org.nemorelay.seams.carrier;

import java.time.Duration;
import java.util.function.Function;
import org.nemorelay.json.JsonException;
import org.nemorelay.seams.control.AgentRpcHandler;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.workerctl.BackendStopRequest;
import org.nemorelay.workerctl.McpDiscoveryRequest;
import org.nemorelay.workerctl.McpDiscoveryResponse;
import org.nemorelay.workerctl.McpToolRequest;
import org.nemorelay.workerctl.McpToolResponse;
import org.nemorelay.workerctl.WireRecord;

/** The agent calls as handlers (distributed-seams 6), the same for every carrier; their queue group is {@value #GROUP}. */
public final class AgentVerbs {
    public static final String GROUP = "agent-workers";
    public static final ControlVerb TOOL = new ControlVerb("mcp.tools.execute");
    public static final ControlVerb DISCOVERY = new ControlVerb("mcp.discovery");
    public static final Duration TOOL_BOUND = Duration.ofSeconds(360);
    public static final Duration DISCOVERY_BOUND = Duration.ofSeconds(60);

    private AgentVerbs() {}

    public static ControlHandler tool(AgentRpcHandler handler) {
        return (context, body, progress) -> answer(
                body,
                McpToolRequest::decode,
                McpToolResponse::refused,
                request -> handler.executeTool(context.withTimeout(TOOL_BOUND), request));
    }

    public static ControlHandler discovery(AgentRpcHandler handler) {
        return (context, body, progress) -> answer(
                body,
                McpDiscoveryRequest::decode,
                McpDiscoveryResponse::refused,
                request -> handler.discoverTools(context.withTimeout(DISCOVERY_BOUND), request));
    }

    public static ControlHandler backendStop(AgentRpcHandler handler) {
        return ControlHandler.noReply(
                BackendStopRequest::decodeOrAll, request -> handler.backendStopped(request.backend()));
    }

    private static <Q, R extends WireRecord> Outcome answer(
            byte[] body, Function<byte[], Q> decode, Function<String, R> refusal, Function<Q, R> work) {
        Q request;
        try {
            request = decode.apply(body);
        } catch (JsonException e) {
            String cause = "unmarshal error: " + e.getMessage();
            return new Outcome.Undecodable(refusal.apply(cause).encode(), cause);
        }
        return new Outcome.Reply(work.apply(request).encode());
    }
}
