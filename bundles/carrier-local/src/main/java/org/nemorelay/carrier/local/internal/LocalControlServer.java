package org.nemorelay.carrier.local.internal;

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
import org.nemorelay.seams.control.ProgressSink;
import org.nemorelay.workerctl.BackendInstallProgressEvent;

/** Verbs of one node on the bus. */
final class LocalControlServer implements ControlServer {
    private final String nodeId;
    private final LocalBus bus;
    private final Faults faults;
    private final List<LocalSubscription> verbs = new CopyOnWriteArrayList<>();
    private final AtomicLong numbers = new AtomicLong();

    LocalControlServer(String nodeId, LocalBus bus, Faults faults) {
        this.nodeId = nodeId;
        this.bus = bus;
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
        serve(subject, Optional.of("node"), verb, handler, serial, progress);
        return true;
    }

    private void serve(
            String subject,
            Optional<String> group,
            ControlVerb verb,
            ControlHandler handler,
            boolean serial,
            ProgressSink progress) {
        AtomicReference<LocalSubscription> own = new AtomicReference<>();
        VerbServing serving = new VerbServing(
                nodeId, verb, handler, serial, faults, progress, () -> own.get().detach());
        own.set(bus.attach(
                subject,
                group,
                request -> serving.serve(
                        request.message().body(), "request " + numbers.incrementAndGet(), request::answer),
                serving::close));
        verbs.add(own.get());
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
        verbs.forEach(LocalSubscription::drain);
        verbs.clear();
    }

    /** Agent calls on the bus: the agent workers share them, the node's own stop reaches each of its servers. */
    static AgentRpcServer agentRpc(LocalBus bus, Faults faults) {
        return (nodeId, handler) -> {
            LocalControlServer server = new LocalControlServer(nodeId, bus, faults);
            server.serveAgentCalls(handler);
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
