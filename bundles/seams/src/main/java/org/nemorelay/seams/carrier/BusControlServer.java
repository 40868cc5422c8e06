package org.nemorelay.seams.carrier;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.control.AgentRpcHandler;
import org.nemorelay.seams.control.AgentRpcServer;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.seams.control.ProgressSink;
import org.nemorelay.workerctl.BackendInstallProgressEvent;

/**
 * The verbs of one node as subjects of a {@link Bus}. They share a group, so that a process with two connections, as during
 * a switch of carriers, serves each request once.
 */
final class BusControlServer implements ControlServer {
    private static final String GROUP = "node";
    private static final ProgressSink NONE = event -> {};

    private final String nodeId;
    private final Bus bus;
    private final Faults faults;
    private final List<Bus.Intake> verbs = new CopyOnWriteArrayList<>();
    private final AtomicLong numbers = new AtomicLong();

    BusControlServer(String nodeId, Bus bus, Faults faults) {
        this.nodeId = nodeId;
        this.bus = bus;
        this.faults = faults;
    }

    @Override
    public boolean handle(ControlVerb verb, Need need, ControlHandler handler) {
        return serve(verb, need, handler, true, NONE);
    }

    @Override
    public boolean handleWithProgress(ControlVerb verb, Need need, ControlHandler handler) {
        return serve(verb, need, handler, false, this::report);
    }

    private boolean serve(ControlVerb verb, Need need, ControlHandler handler, boolean serial, ProgressSink progress) {
        String subject;
        try {
            subject = Verbs.subject(nodeId, verb);
        } catch (NotServedException e) {
            if (need == Need.OPTIONAL) {
                return false;
            }
            throw e;
        }
        serve(subject, Optional.of(GROUP), verb, handler, serial, progress);
        return true;
    }

    private void serve(
            String subject,
            Optional<String> group,
            ControlVerb verb,
            ControlHandler handler,
            boolean serial,
            ProgressSink progress) {
        AtomicReference<Runnable> stop = new AtomicReference<>(() -> {});
        VerbServing serving = new VerbServing(
                nodeId,
                verb,
                handler,
                serial,
                faults,
                progress,
                () -> stop.get().run());
        Bus.Intake intake = bus.take(
                subject,
                group,
                (request, answer) -> serving.serve(
                        request, "request " + numbers.incrementAndGet(), outcome -> answer(outcome, answer)),
                serving::close);
        stop.set(intake::detach);
        verbs.add(intake);
    }

    private static void answer(Outcome outcome, Consumer<byte[]> answer) {
        switch (outcome) {
            case Outcome.Reply reply -> answer.accept(reply.body());
            case Outcome.Undecodable reply -> answer.accept(reply.body());
            case Outcome.Silent _, Outcome.Dropped _ -> {}
        }
    }

    private void report(BackendInstallProgressEvent event) {
        if (event.opId().isEmpty()) {
            return;
        }
        try {
            bus.publish(Subjects.installProgress(nodeId, event.opId()), event.encode());
        } catch (SeamException e) {
            faults.warn("progress of node " + nodeId, e.getMessage());
        }
    }

    @Override
    public void close() {
        verbs.forEach(Bus.Intake::drain);
        verbs.clear();
    }

    /** Agent calls: the agent workers share them, the node's own stop reaches each of its servers and is never answered. */
    static AgentRpcServer agentRpc(Bus bus, Faults faults) {
        return (nodeId, handler) -> {
            BusControlServer server = new BusControlServer(nodeId, bus, faults);
            try {
                server.serveAgentCalls(handler);
            } catch (SeamException e) {
                server.close();
                throw e;
            }
            return (Registration) server::close;
        };
    }

    private void serveAgentCalls(AgentRpcHandler handler) {
        Optional<String> shared = Optional.of(AgentVerbs.GROUP);
        serve(Subjects.mcpToolsExecute(), shared, AgentVerbs.TOOL, AgentVerbs.tool(handler), true, NONE);
        serve(Subjects.mcpDiscovery(), shared, AgentVerbs.DISCOVERY, AgentVerbs.discovery(handler), true, NONE);
        serve(
                Verbs.subject(nodeId, ControlVerb.BACKEND_STOP),
                Optional.empty(),
                ControlVerb.BACKEND_STOP,
                AgentVerbs.backendStop(handler),
                true,
                NONE);
    }
}
