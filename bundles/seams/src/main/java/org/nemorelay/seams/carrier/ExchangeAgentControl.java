package org.nemorelay.seams.carrier;

import java.time.Duration;
import java.util.function.Function;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.control.AgentControl;
import org.nemorelay.workerctl.McpDiscoveryRequest;
import org.nemorelay.workerctl.McpDiscoveryResponse;
import org.nemorelay.workerctl.McpToolRequest;
import org.nemorelay.workerctl.McpToolResponse;
import org.nemorelay.workerctl.WireRecord;

/** {@link AgentControl} over any {@link Exchange}; cancellation is the exchange's affair. */
public final class ExchangeAgentControl implements AgentControl {
    private final Exchange exchange;

    public ExchangeAgentControl(Exchange exchange) {
        this.exchange = exchange;
    }

    @Override
    public McpToolResponse executeTool(Context context, McpToolRequest request) {
        return ask(context, Subjects.mcpToolsExecute(), request, AgentVerbs.TOOL_BOUND, McpToolResponse::decode);
    }

    @Override
    public McpDiscoveryResponse discoverTools(Context context, McpDiscoveryRequest request) {
        return ask(context, Subjects.mcpDiscovery(), request, AgentVerbs.DISCOVERY_BOUND, McpDiscoveryResponse::decode);
    }

    private <R> R ask(
            Context context, String subject, WireRecord request, Duration otherwise, Function<byte[], R> decode) {
        if (context.expired()) {
            throw new TimedOutException(subject + ": the deadline has passed, nothing was sent");
        }
        Duration bound = context.remaining().orElse(otherwise);
        return Verbs.decoded(subject, exchange.request(context, subject, request.encode(), bound), decode);
    }
}
