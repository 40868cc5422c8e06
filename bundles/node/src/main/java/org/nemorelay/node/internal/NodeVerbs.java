package org.nemorelay.node.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.node.internal.BackendProcesses.Running;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.FileVerbs;
import org.nemorelay.seams.control.ProgressSink;
import org.nemorelay.workerctl.BackendDeleteReply;
import org.nemorelay.workerctl.BackendDeleteRequest;
import org.nemorelay.workerctl.BackendInstallProgressEvent;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;
import org.nemorelay.workerctl.BackendListReply;
import org.nemorelay.workerctl.BackendStopReply;
import org.nemorelay.workerctl.BackendStopRequest;
import org.nemorelay.workerctl.BackendUpgradeReply;
import org.nemorelay.workerctl.BackendUpgradeRequest;
import org.nemorelay.workerctl.ModelDeleteReply;
import org.nemorelay.workerctl.ModelDeleteRequest;
import org.nemorelay.workerctl.ModelStopReply;
import org.nemorelay.workerctl.ModelStopRequest;
import org.nemorelay.workerctl.ModelUnloadReply;
import org.nemorelay.workerctl.ModelUnloadRequest;
import org.nemorelay.workerctl.ModelsRunningReply;
import org.nemorelay.workerctl.NodeBackendInfo;
import org.nemorelay.workerctl.OperationReply;
import org.nemorelay.workerctl.OperationRequest;
import org.nemorelay.workerctl.RunningModelInfo;

/** What this node answers to each control verb (distributed-seams 4). */
final class NodeVerbs {
    private static final String INVALID = "invalid request";

    private final String nodeId;
    private final BackendProcesses processes;
    private final FileVerbs files;
    private final Runnable stop;
    private final LoadOperations operations;

    /** @param stop ends the process, without waiting */
    NodeVerbs(String nodeId, BackendProcesses processes, LoadOperations operations, FileVerbs files, Runnable stop) {
        this.nodeId = nodeId;
        this.processes = processes;
        this.operations = operations;
        this.files = files;
        this.stop = stop;
    }

    /** Serves every verb, or throws at the first that the carrier has no place for. */
    void serve(ControlServer server) {
        server.handleWithProgress(
                ControlVerb.BACKEND_INSTALL,
                Need.MANDATORY,
                ControlHandler.withProgress(
                        BackendInstallRequest::decode, BackendInstallReply::refused, this::install));
        server.handleWithProgress(
                ControlVerb.BACKEND_UPGRADE,
                Need.MANDATORY,
                ControlHandler.unary(BackendUpgradeRequest::decode, BackendUpgradeReply::refused, this::upgrade));
        on(
                server,
                ControlVerb.BACKEND_STOP,
                ControlHandler.unary(
                        BackendStopRequest::decodeOrAll,
                        cause -> BackendStopReply.refused(
                                cause.replace(INVALID + ": ", INVALID + ": decoding backend stop request: ")),
                        this::stop));
        on(
                server,
                ControlVerb.BACKEND_DELETE,
                ControlHandler.unary(BackendDeleteRequest::decode, BackendDeleteReply::refused, this::delete));
        on(server, ControlVerb.BACKEND_LIST, ControlHandler.unary(this::list));
        on(server, ControlVerb.MODELS_RUNNING, ControlHandler.unary(this::running));
        on(
                server,
                ControlVerb.MODEL_UNLOAD,
                ControlHandler.unary(ModelUnloadRequest::decode, ModelUnloadReply::refused, this::unload));
        on(
                server,
                ControlVerb.MODEL_STOP,
                ControlHandler.unary(ModelStopRequest::decode, ModelStopReply::refused, this::stopModel));
        on(
                server,
                ControlVerb.MODEL_DELETE,
                ControlHandler.unary(
                        ModelDeleteRequest::decode, cause -> ModelDeleteReply.refused(INVALID), this::deleteModel));
        on(
                server,
                ControlVerb.MODEL_OP,
                ControlHandler.unary(
                        OperationRequest::decode,
                        cause -> new OperationReply(List.of(), List.of(), List.of()),
                        this::operations));
        FileVerbs.serve(server, files);
        on(server, ControlVerb.NODE_STOP, ControlHandler.noReply(stop));
    }

    private static void on(ControlServer server, ControlVerb verb, ControlHandler handler) {
        server.handle(verb, Need.MANDATORY, handler);
    }

    private BackendInstallReply install(Context context, BackendInstallRequest request, ProgressSink progress) {
        String key = BackendProcesses.key(request.backend(), request.modelId(), request.replicaIndex());
        if (!request.modelId().isEmpty()) {
            operations.begin(request.operationId(), key, request.deadlineMs());
        }
        try {
            progress.report(new BackendInstallProgressEvent(
                    request.opId(), nodeId, request.backend(), "", "", "", 0, "starting"));
            Running running = processes.ensure(
                    nodeId, request.backend(), request.modelId(), request.replicaIndex(), request.force());
            return new BackendInstallReply(true, running.address(), "", running.instance(), true);
        } catch (RelayException e) {
            operations.failed(key);
            return BackendInstallReply.refused(e.getMessage());
        }
    }

    /** Backends are programs of this machine: what an upgrade does here is to end the old processes. */
    private BackendUpgradeReply upgrade(Context context, BackendUpgradeRequest request) {
        if (!processes.backends().contains(request.backend())) {
            return BackendUpgradeReply.refused("there is no backend " + request.backend() + " on this node");
        }
        return new BackendUpgradeReply(true, "", stopped(request.backend(), true), true);
    }

    private BackendStopReply stop(Context context, BackendStopRequest request) {
        return new BackendStopReply(true, "", stopped(request.backend(), request.force()), true);
    }

    /** Backends are programs of this machine: there is nothing that a node could delete, so nothing is ended for it. */
    private BackendDeleteReply delete(Context context, BackendDeleteRequest request) {
        return new BackendDeleteReply(
                false,
                "backend " + request.backend() + " is part of this node's configuration and is not deleted",
                List.of(),
                true);
    }

    private List<String> stopped(String identifier, boolean force) {
        List<String> stopped = new ArrayList<>();
        for (String key : processes.keys(identifier)) {
            if (processes.stop(key, force)) {
                stopped.add(key);
            }
        }
        return stopped;
    }

    private BackendListReply list(Context context) {
        return new BackendListReply(
                processes.backends().stream()
                        .map(name -> new NodeBackendInfo(name, true, false, "", "", "", "", ""))
                        .toList(),
                "");
    }

    private ModelsRunningReply running(Context context) {
        return new ModelsRunningReply(
                processes.running().stream()
                        .map(one -> new RunningModelInfo(
                                one.model(), one.replica(), one.address(), operations.id(one.key()), one.instance()))
                        .toList(),
                "",
                true);
    }

    /** Only the process at the address; none there is a success that frees nothing. */
    private ModelUnloadReply unload(Context context, ModelUnloadRequest request) {
        for (Running running : processes.running()) {
            boolean meant = running.address().equals(request.address())
                    && (request.processInstance().isEmpty()
                            || request.processInstance().equals(running.instance()));
            if (meant && !processes.unload(running.key())) {
                return ModelUnloadReply.refused("the backend at " + request.address() + " did not free its model");
            }
        }
        return new ModelUnloadReply(true, "");
    }

    /**
     * Only the exact process; one that is gone already is terminated. One that serves is not ended in the name of a load: a
     * stop that comes after its load is over is refused.
     */
    private ModelStopReply stopModel(Context context, ModelStopRequest request) {
        Optional<String> meant = operations.key(request.operationId()).filter(key -> !key.equals(request.processKey()));
        if (meant.isPresent()) {
            return new ModelStopReply(
                    false,
                    false,
                    false,
                    request.processKey(),
                    "",
                    "process " + request.processKey() + " does not belong to operation " + request.operationId()
                            + ", which loads " + meant.get());
        }
        for (Running running : processes.running()) {
            if (!running.key().equals(request.processKey())) {
                continue;
            }
            if (!request.expectedAddress().isEmpty()
                            && !request.expectedAddress().equals(running.address())
                    || !request.processInstance().isEmpty()
                            && !request.processInstance().equals(running.instance())
                    || !request.operationId().isEmpty()
                            && !request.operationId().equals(operations.id(running.key()))) {
                return new ModelStopReply(
                        false,
                        false,
                        false,
                        request.processKey(),
                        running.address(),
                        "another process has this key: it does not belong to operation " + request.operationId());
            }
            processes.stop(running.key(), request.force());
            operations.failed(running.key());
            return new ModelStopReply(true, !request.force(), true, running.key(), running.address(), "");
        }
        return new ModelStopReply(true, false, true, request.processKey(), request.expectedAddress(), "");
    }

    private ModelDeleteReply deleteModel(Context context, ModelDeleteRequest request) {
        processes.keys(request.modelName()).forEach(key -> processes.stop(key, false));
        return new ModelDeleteReply(true, "");
    }

    private OperationReply operations(Context context, OperationRequest request) {
        List<String> renewed = operations.renew(request.renew());
        List<String> unknown =
                request.renew().stream().filter(id -> !renewed.contains(id)).toList();
        operations.complete(request.complete());
        return new OperationReply(renewed, request.complete(), unknown);
    }
}
