package org.nemorelay.seams.carrier;

import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.control.AgentControl;
import org.nemorelay.seams.control.AgentRpcServer;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.NodeCommandSender;

/** The seams that a {@link Bus} serves: fan-out, queues, control verbs and agent calls. */
public abstract class BusCarrier implements Carrier {
    private final Bus bus;
    private final BusQueues queues;
    private final Faults faults;
    private final NodeCommandSender commands;
    private final AgentControl agentControl;
    private final AgentRpcServer agentRpcServer;

    protected BusCarrier(Bus bus, BusQueues queues, ControlTimeouts timeouts, Faults faults) {
        this.bus = bus;
        this.queues = queues;
        this.faults = faults;
        this.commands = new ExchangeCommandSender(bus, timeouts, faults);
        this.agentControl = new ExchangeAgentControl(bus);
        this.agentRpcServer = BusControlServer.agentRpc(bus, faults);
    }

    @Override
    public final Broadcaster broadcaster() {
        return bus;
    }

    @Override
    public final WorkQueue workQueue() {
        return queues;
    }

    @Override
    public final WorkConsumer workConsumer() {
        return queues;
    }

    @Override
    public final NodeCommandSender commands() {
        return commands;
    }

    @Override
    public final ControlServer controlServer(String nodeId) {
        return new BusControlServer(nodeId, bus, faults);
    }

    @Override
    public final AgentControl agentControl() {
        return agentControl;
    }

    @Override
    public final AgentRpcServer agentRpcServer() {
        return agentRpcServer;
    }

    /** Bytes to a subject, past the typed senders. */
    public final Exchange exchange() {
        return bus;
    }
}
