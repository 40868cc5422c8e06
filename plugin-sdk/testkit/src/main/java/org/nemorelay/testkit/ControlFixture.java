package org.nemorelay.testkit;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.workerctl.BackendDeleteReply;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;
import org.nemorelay.workerctl.BackendListReply;
import org.nemorelay.workerctl.BackendStopReply;
import org.nemorelay.workerctl.BackendStopRequest;
import org.nemorelay.workerctl.BackendUpgradeReply;
import org.nemorelay.workerctl.ModelDeleteReply;
import org.nemorelay.workerctl.ModelStopReply;
import org.nemorelay.workerctl.ModelStopRequest;
import org.nemorelay.workerctl.ModelUnloadReply;
import org.nemorelay.workerctl.ModelUnloadRequest;
import org.nemorelay.workerctl.ModelsRunningReply;
import org.nemorelay.workerctl.OperationReply;
import org.nemorelay.workerctl.OperationRequest;
import org.nemorelay.workerctl.WireRecord;

/** A node that answers, refuses or stays silent, and remembers what it was sent. */
final class ControlFixture implements AutoCloseable {
    private final ControlServer server;
    private final List<WireRecord> sent = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch end = new CountDownLatch(1);

    private ControlFixture(Carrier carrier, String nodeId) {
        this.server = carrier.controlServer(nodeId);
    }

    /** A node that does what it is asked; it knows the operation {@code known} and no other. */
    static ControlFixture answering(Carrier carrier, String nodeId) {
        return serving(carrier, nodeId, "");
    }

    static ControlFixture refusing(Carrier carrier, String nodeId, String reason) {
        return serving(carrier, nodeId, reason);
    }

    private static ControlFixture serving(Carrier carrier, String nodeId, String error) {
        ControlFixture node = new ControlFixture(carrier, nodeId);
        boolean ok = error.isEmpty();
        node.on(
                ControlVerb.BACKEND_INSTALL,
                ControlHandler.unary(
                        BackendInstallRequest::decode, BackendInstallReply::refused, (context, request) -> {
                            node.sent.add(request);
                            return new BackendInstallReply(ok, ok ? "h:1" : "", error, ok ? "p1" : "", true);
                        }));
        node.on(
                ControlVerb.BACKEND_UPGRADE,
                ControlHandler.unary(context -> new BackendUpgradeReply(ok, error, List.of(), true)));
        node.on(
                ControlVerb.BACKEND_STOP,
                ControlHandler.unary(BackendStopRequest::decodeOrAll, BackendStopReply::refused, (context, request) -> {
                    node.sent.add(request);
                    return new BackendStopReply(ok, error, List.of(), true);
                }));
        node.on(
                ControlVerb.BACKEND_DELETE,
                ControlHandler.unary(context -> new BackendDeleteReply(ok, error, List.of(), true)));
        node.on(ControlVerb.BACKEND_LIST, ControlHandler.unary(context -> new BackendListReply(List.of(), error)));
        node.on(
                ControlVerb.MODELS_RUNNING,
                ControlHandler.unary(context -> new ModelsRunningReply(List.of(), error, true)));
        node.on(
                ControlVerb.MODEL_UNLOAD,
                ControlHandler.unary(ModelUnloadRequest::decode, ModelUnloadReply::refused, (context, request) -> {
                    node.sent.add(request);
                    return new ModelUnloadReply(ok, error);
                }));
        node.on(
                ControlVerb.MODEL_STOP,
                ControlHandler.unary(ModelStopRequest::decode, ModelStopReply::refused, (context, request) -> {
                    node.sent.add(request);
                    return new ModelStopReply(ok, ok, ok, request.processKey(), request.expectedAddress(), error);
                }));
        node.on(ControlVerb.MODEL_DELETE, ControlHandler.unary(context -> new ModelDeleteReply(ok, error)));
        node.on(
                ControlVerb.MODEL_OP,
                ControlHandler.unary(
                        OperationRequest::decode,
                        cause -> new OperationReply(List.of(), List.of(), List.of()),
                        (context, request) -> {
                            node.sent.add(request);
                            return new OperationReply(
                                    ok ? request.renew() : List.of(),
                                    request.complete(),
                                    ok ? List.of() : request.renew());
                        }));
        return node;
    }

    /** A node that takes every request and answers none before it is closed. */
    static ControlFixture silent(Carrier carrier, String nodeId) {
        ControlFixture node = new ControlFixture(carrier, nodeId);
        for (ControlVerb verb : ControlVerb.ALL) {
            node.server.handleWithProgress(verb, Need.MANDATORY, (context, body, progress) -> {
                Await.latch(node.end);
                return new Outcome.Silent();
            });
        }
        return node;
    }

    private void on(ControlVerb verb, ControlHandler handler) {
        server.handle(verb, Need.MANDATORY, handler);
    }

    List<WireRecord> sent() {
        return List.copyOf(sent);
    }

    @Override
    public void close() {
        end.countDown();
        server.close();
    }
}
