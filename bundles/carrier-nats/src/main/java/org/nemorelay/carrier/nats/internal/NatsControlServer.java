package org.nemorelay.carrier.nats.internal;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.carrier.AgentVerbs;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.VerbServing;
import org.nemorelay.seams.carrier.Verbs;
import org.nemorelay.seams.control.AgentRpcHandler;
import org.nemorelay.seams.control.AgentRpcServer;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.seams.control.ProgressSink;
import org.nemorelay.workerctl.BackendInstallProgressEvent;

/**
 * The verbs of one node as subjects. They share a queue group, so that a process with two connections, as during a switch of
 * carriers, serves each request once.
 */
final class NatsControlServer implements ControlServer {
    private static final String GROUP = "node";

    private final String nodeId;
    private final NatsLink link;
    private final Faults faults;
    private final List<NatsSubscription> verbs = new CopyOnWriteArrayList<>();
    private final AtomicLong numbers = new AtomicLong();

    NatsControlServer(String nodeId, NatsLink link, Faults faults) {
        this.nodeId = nodeId;
        this.link = link;
        this.faults = faults;
    }

    @Override
    public boolean handle(ControlVerb verb, Need need, ControlHandler handler) {
        return serve(verb, need, handler, true, event -> {});
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
        NatsSubscription subscription = link.subscribe(
                subject,
                group,
                request -> serving.serve(
                        request.getData(), "request " + numbers.incrementAndGet(), outcome -> answer(request, outcome)),
                serving::close);
        stop.set(subscription::detach);
        verbs.add(subscription);
    }

    private void answer(io.nats.client.Message request, Outcome outcome) {
        if (request.getReplyTo() == null) {
            return;
        }
        switch (outcome) {
            case Outcome.Reply reply -> link.answer(request, reply.body());
            case Outcome.Undecodable reply -> link.answer(request, reply.body());
            case Outcome.Silent _, Outcome.Dropped _ -> {}
        }
    }

    private void report(BackendInstallProgressEvent event) {
        if (event.opId().isEmpty()) {
            return;
        }
        try {
            link.publish(Subjects.installProgress(nodeId, event.opId()), Optional.empty(), event.encode());
        } catch (SeamException e) {
            faults.warn("progress of node " + nodeId, e.getMessage());
        }
    }

    @Override
    public void close() {
        verbs.forEach(NatsSubscription::drain);
        verbs.clear();
    }

    /** Agent calls: the agent workers share them, the node's own stop reaches each of its servers and is never answered. */
    static AgentRpcServer agentRpc(NatsLink link, Faults faults) {
        return (nodeId, handler) -> {
            NatsControlServer server = new NatsControlServer(nodeId, link, faults);
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
        ProgressSink none = event -> {};
        serve(Subjects.mcpToolsExecute(), shared, AgentVerbs.TOOL, AgentVerbs.tool(handler), true, none);
        serve(Subjects.mcpDiscovery(), shared, AgentVerbs.DISCOVERY, AgentVerbs.discovery(handler), true, none);
        serve(
                Verbs.subject(nodeId, ControlVerb.BACKEND_STOP),
                Optional.empty(),
                ControlVerb.BACKEND_STOP,
                AgentVerbs.backendStop(handler),
                true,
                none);
    }
}
