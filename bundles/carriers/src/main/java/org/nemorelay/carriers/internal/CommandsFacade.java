package org.nemorelay.carriers.internal;

import java.util.function.Consumer;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.seams.control.Replica;
import org.nemorelay.workerctl.BackendDeleteReply;
import org.nemorelay.workerctl.BackendInstallProgressEvent;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;
import org.nemorelay.workerctl.BackendListReply;
import org.nemorelay.workerctl.BackendUpgradeReply;
import org.nemorelay.workerctl.BackendUpgradeRequest;
import org.nemorelay.workerctl.ModelDeleteReply;
import org.nemorelay.workerctl.ModelStopReply;
import org.nemorelay.workerctl.ModelStopRequest;
import org.nemorelay.workerctl.ModelsRunningReply;
import org.nemorelay.workerctl.OperationReply;
import org.nemorelay.workerctl.OperationRequest;

/** The frontend's half of the control verbs; each call keeps the carrier it began with. */
final class CommandsFacade implements NodeCommandSender {
    private final Lane lane;

    CommandsFacade(Lane lane) {
        this.lane = lane;
    }

    @Override
    public BackendInstallReply installBackend(
            String nodeId, BackendInstallRequest request, Consumer<BackendInstallProgressEvent> onProgress) {
        return lane.call(carrier -> carrier.commands().installBackend(nodeId, request, onProgress));
    }

    @Override
    public BackendInstallReply installBackendOp(
            String nodeId, BackendInstallRequest request, Consumer<BackendInstallProgressEvent> onProgress) {
        return lane.call(carrier -> carrier.commands().installBackendOp(nodeId, request, onProgress));
    }

    @Override
    public BackendUpgradeReply upgradeBackend(
            String nodeId, BackendUpgradeRequest request, Consumer<BackendInstallProgressEvent> onProgress) {
        return lane.call(carrier -> carrier.commands().upgradeBackend(nodeId, request, onProgress));
    }

    @Override
    public BackendDeleteReply deleteBackend(String nodeId, String backend) {
        return lane.call(carrier -> carrier.commands().deleteBackend(nodeId, backend));
    }

    @Override
    public BackendListReply listBackends(String nodeId) {
        return lane.call(carrier -> carrier.commands().listBackends(nodeId));
    }

    @Override
    public ModelsRunningReply modelsRunning(String nodeId) {
        return lane.call(carrier -> carrier.commands().modelsRunning(nodeId));
    }

    @Override
    public void stopBackend(String nodeId, String backend, boolean force) {
        lane.run(carrier -> carrier.commands().stopBackend(nodeId, backend, force));
    }

    @Override
    public void unloadModel(String nodeId, String modelName, String address) {
        lane.run(carrier -> carrier.commands().unloadModel(nodeId, modelName, address));
    }

    @Override
    public ModelDeleteReply deleteModel(String nodeId, String modelName) {
        return lane.call(carrier -> carrier.commands().deleteModel(nodeId, modelName));
    }

    @Override
    public void stopNode(String nodeId) {
        lane.run(carrier -> carrier.commands().stopNode(nodeId));
    }

    @Override
    public void pingNode(String nodeId) {
        lane.run(carrier -> carrier.commands().pingNode(nodeId));
    }

    @Override
    public ModelStopReply stopLoadOperation(Context context, String nodeId, ModelStopRequest request) {
        return lane.call(carrier -> carrier.commands().stopLoadOperation(context, nodeId, request));
    }

    @Override
    public OperationReply operationControl(String nodeId, OperationRequest request) {
        return lane.call(carrier -> carrier.commands().operationControl(nodeId, request));
    }

    @Override
    public void unloadReplica(String nodeId, Replica replica) {
        lane.run(carrier -> carrier.commands().unloadReplica(nodeId, replica));
    }

    @Override
    public ModelStopReply stopModelReplica(Context context, String nodeId, Replica replica, boolean force) {
        return lane.call(carrier -> carrier.commands().stopModelReplica(context, nodeId, replica, force));
    }
}
