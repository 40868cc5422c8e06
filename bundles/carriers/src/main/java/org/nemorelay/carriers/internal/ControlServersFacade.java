package org.nemorelay.carriers.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.control.AgentRpcHandler;
import org.nemorelay.seams.control.AgentRpcServer;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlServers;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.seams.control.ProgressSink;
import org.nemorelay.workerctl.McpDiscoveryRequest;
import org.nemorelay.workerctl.McpDiscoveryResponse;
import org.nemorelay.workerctl.McpToolRequest;
import org.nemorelay.workerctl.McpToolResponse;

/** The worker's half of control verbs and agent calls; what runs one at a time does so over all carriers together. */
final class ControlServersFacade implements ControlServers, AgentRpcServer {
    private final Lane lane;

    ControlServersFacade(Lane lane) {
        this.lane = lane;
    }

    @Override
    public ControlServer controlServer(String nodeId) {
        return new Server(nodeId);
    }

    @Override
    public Registration serve(String nodeId, AgentRpcHandler handler) {
        AgentRpcHandler serial = new SerialAgent(handler);
        Standing.Thing thing =
                carrier -> Standing.Foothold.closing(carrier.agentRpcServer().serve(nodeId, serial)::close);
        lane.standing().add(thing);
        return () -> lane.standing().drain(thing);
    }

    private final class Server implements ControlServer {
        private final String nodeId;
        private final List<Verb> verbs = new CopyOnWriteArrayList<>();

        private Server(String nodeId) {
            this.nodeId = nodeId;
        }

        @Override
        public boolean handle(ControlVerb verb, Need need, ControlHandler handler) {
            return add(new Verb(lane, nodeId, verb, need, true, handler));
        }

        @Override
        public boolean handleWithProgress(ControlVerb verb, Need need, ControlHandler handler) {
            return add(new Verb(lane, nodeId, verb, need, false, handler));
        }

        /** Without a carrier a verb counts as served: it will be. */
        private boolean add(Verb verb) {
            lane.standing().add(verb);
            verbs.add(verb);
            return verb.served.get();
        }

        @Override
        public void close() {
            verbs.forEach(lane.standing()::drain);
            verbs.clear();
        }
    }

    private static final class Verb implements Standing.Thing {
        private final Lane lane;
        private final String nodeId;
        private final ControlVerb verb;
        private final ControlServer.Need need;
        private final boolean serial;
        private final ControlHandler handler;
        private final AtomicBoolean served = new AtomicBoolean(true);
        private final ReentrantLock turn = new ReentrantLock(true);

        private Verb(
                Lane lane,
                String nodeId,
                ControlVerb verb,
                ControlServer.Need need,
                boolean serial,
                ControlHandler handler) {
            this.lane = lane;
            this.nodeId = nodeId;
            this.verb = verb;
            this.need = need;
            this.serial = serial;
            this.handler = handler;
        }

        @Override
        public Standing.Foothold on(Carrier carrier) {
            ControlServer server = carrier.controlServer(nodeId);
            served.set(
                    serial ? server.handle(verb, need, this::inTurn) : server.handleWithProgress(verb, need, handler));
            return Standing.Foothold.closing(server::close);
        }

        private Outcome inTurn(Context context, byte[] body, ProgressSink progress) {
            turn.lock();
            try {
                return handler.handle(context, body, progress);
            } catch (RuntimeException | Error thrown) {
                if (!Faults.meant(thrown)) {
                    lane.standing().abandon(this);
                }
                throw thrown;
            } finally {
                turn.unlock();
            }
        }
    }

    private static final class SerialAgent implements AgentRpcHandler {
        private final AgentRpcHandler handler;
        private final ReentrantLock tools = new ReentrantLock(true);
        private final ReentrantLock discoveries = new ReentrantLock(true);

        private SerialAgent(AgentRpcHandler handler) {
            this.handler = handler;
        }

        @Override
        public McpToolResponse executeTool(Context context, McpToolRequest request) {
            tools.lock();
            try {
                return handler.executeTool(context, request);
            } finally {
                tools.unlock();
            }
        }

        @Override
        public McpDiscoveryResponse discoverTools(Context context, McpDiscoveryRequest request) {
            discoveries.lock();
            try {
                return handler.discoverTools(context, request);
            } finally {
                discoveries.unlock();
            }
        }

        @Override
        public void backendStopped(String backend) {
            handler.backendStopped(backend);
        }
    }
}
