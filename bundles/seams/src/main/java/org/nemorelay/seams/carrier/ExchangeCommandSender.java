package org.nemorelay.seams.carrier;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import org.nemorelay.json.JsonException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.StillInstallingException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.seams.control.Replica;
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
import org.nemorelay.workerctl.NoArguments;
import org.nemorelay.workerctl.OperationReply;
import org.nemorelay.workerctl.OperationRequest;
import org.nemorelay.workerctl.WireRecord;

/** {@link NodeCommandSender} over any {@link Exchange}. */
public final class ExchangeCommandSender implements NodeCommandSender {
    private final Exchange exchange;
    private final ControlTimeouts timeouts;
    private final Faults faults;

    public ExchangeCommandSender(Exchange exchange, ControlTimeouts timeouts, Faults faults) {
        this.exchange = exchange;
        this.timeouts = timeouts;
        this.faults = faults;
    }

    @Override
    public BackendInstallReply installBackend(
            String nodeId, BackendInstallRequest request, Consumer<BackendInstallProgressEvent> onProgress) {
        return installing(
                nodeId,
                request.opId(),
                onProgress,
                () -> ask(
                        nodeId,
                        ControlVerb.BACKEND_INSTALL,
                        request,
                        request.force() ? timeouts.upgrade() : timeouts.install(),
                        BackendInstallReply::decode));
    }

    @Override
    public BackendInstallReply installBackendOp(
            String nodeId, BackendInstallRequest request, Consumer<BackendInstallProgressEvent> onProgress) {
        requireOperation(request.operationId());
        return installBackend(nodeId, request, onProgress);
    }

    @Override
    public BackendUpgradeReply upgradeBackend(
            String nodeId, BackendUpgradeRequest request, Consumer<BackendInstallProgressEvent> onProgress) {
        return installing(
                nodeId,
                request.opId(),
                onProgress,
                () -> ask(
                        nodeId, ControlVerb.BACKEND_UPGRADE, request, timeouts.upgrade(), BackendUpgradeReply::decode));
    }

    private interface Call<R> {
        R run();
    }

    private <R> R installing(
            String nodeId, String opId, Consumer<BackendInstallProgressEvent> onProgress, Call<R> call) {
        Runnable end = opId.isEmpty() ? () -> {} : listen(Subjects.installProgress(nodeId, opId), onProgress);
        try {
            return call.run();
        } catch (TimedOutException e) {
            throw new StillInstallingException(e.getMessage() + "; the worker may still be installing");
        } finally {
            end.run();
        }
    }

    private Runnable listen(String subject, Consumer<BackendInstallProgressEvent> onProgress) {
        try {
            Subscription events = exchange.listen(subject, body -> {
                try {
                    onProgress.accept(BackendInstallProgressEvent.decode(body));
                } catch (JsonException e) {
                    faults.warn(subject, "skipped a progress event: " + e.getMessage());
                }
            });
            return events::drain;
        } catch (SeamException e) {
            faults.warn(subject, "no progress will be shown: " + e.getMessage());
            return () -> {};
        }
    }

    @Override
    public BackendDeleteReply deleteBackend(String nodeId, String backend) {
        return ask(
                nodeId,
                ControlVerb.BACKEND_DELETE,
                new BackendDeleteRequest(backend),
                timeouts.delete(),
                BackendDeleteReply::decode);
    }

    @Override
    public BackendListReply listBackends(String nodeId) {
        return listBackends(nodeId, timeouts.list());
    }

    private BackendListReply listBackends(String nodeId, Duration bound) {
        return ask(nodeId, ControlVerb.BACKEND_LIST, new NoArguments(), bound, BackendListReply::decode);
    }

    @Override
    public ModelsRunningReply modelsRunning(String nodeId) {
        return modelsRunning(nodeId, timeouts.running());
    }

    private ModelsRunningReply modelsRunning(String nodeId, Duration bound) {
        return ask(nodeId, ControlVerb.MODELS_RUNNING, new NoArguments(), bound, ModelsRunningReply::decode);
    }

    @Override
    public void stopBackend(String nodeId, String backend, boolean force) {
        BackendStopReply reply;
        try {
            reply = ask(
                    nodeId,
                    ControlVerb.BACKEND_STOP,
                    new BackendStopRequest(backend, force),
                    timeouts.stop(),
                    BackendStopReply::decode);
        } catch (TimedOutException e) {
            faults.warn(e.getMessage(), "taken for a worker that does not answer this verb");
            return;
        }
        if (!reply.success()) {
            throw refused(nodeId, ControlVerb.BACKEND_STOP, reply.error());
        }
        if (reply.reportsStoppedProcesses() && reply.stoppedProcessKeys().isEmpty()) {
            faults.warn("backend.stop of node " + nodeId, "no process of \"" + backend + "\" was running");
        }
    }

    @Override
    public void unloadModel(String nodeId, String modelName, String address) {
        unload(nodeId, new ModelUnloadRequest(modelName, address, ""));
    }

    @Override
    public void unloadReplica(String nodeId, Replica replica) {
        if (!replica.address().isEmpty()) {
            unload(nodeId, new ModelUnloadRequest(replica.modelName(), replica.address(), replica.processInstance()));
        }
    }

    private void unload(String nodeId, ModelUnloadRequest request) {
        ModelUnloadReply reply =
                ask(nodeId, ControlVerb.MODEL_UNLOAD, request, timeouts.unload(), ModelUnloadReply::decode);
        if (!reply.success()) {
            throw refused(nodeId, ControlVerb.MODEL_UNLOAD, reply.error());
        }
    }

    @Override
    public ModelDeleteReply deleteModel(String nodeId, String modelName) {
        return ask(
                nodeId,
                ControlVerb.MODEL_DELETE,
                new ModelDeleteRequest(modelName),
                timeouts.unload(),
                ModelDeleteReply::decode);
    }

    @Override
    public ModelStopReply stopLoadOperation(Context context, String nodeId, ModelStopRequest request) {
        requireOperation(request.operationId());
        return stopModel(context, nodeId, request);
    }

    @Override
    public ModelStopReply stopModelReplica(Context context, String nodeId, Replica replica, boolean force) {
        return stopModel(
                context,
                nodeId,
                new ModelStopRequest(
                        replica.modelName(),
                        replica.processKey(),
                        replica.address(),
                        force,
                        replica.configRevision(),
                        replica.operationId(),
                        replica.processInstance()));
    }

    private ModelStopReply stopModel(Context context, String nodeId, ModelStopRequest request) {
        return ask(context, nodeId, ControlVerb.MODEL_STOP, request, timeouts.modelStop(), ModelStopReply::decode);
    }

    @Override
    public OperationReply operationControl(String nodeId, OperationRequest request) {
        return ask(nodeId, ControlVerb.MODEL_OP, request, timeouts.operation(), OperationReply::decode);
    }

    @Override
    public void stopNode(String nodeId) {
        exchange.post(Verbs.subject(nodeId, ControlVerb.NODE_STOP), new byte[0]);
    }

    @Override
    public void pingNode(String nodeId) {
        try {
            listBackends(nodeId, timeouts.ping());
        } catch (NoRouteException older) {
            present(() -> modelsRunning(nodeId, timeouts.ping()));
        } catch (SeamException noEvidence) {
            return;
        }
    }

    private static void present(Runnable question) {
        try {
            question.run();
        } catch (NoRouteException nobody) {
            throw nobody;
        } catch (SeamException noEvidence) {
            return;
        }
    }

    private <R> R ask(String nodeId, ControlVerb verb, WireRecord request, Duration bound, Function<byte[], R> decode) {
        return ask(Context.background(), nodeId, verb, request, bound, decode);
    }

    private <R> R ask(
            Context context,
            String nodeId,
            ControlVerb verb,
            WireRecord request,
            Duration bound,
            Function<byte[], R> decode) {
        return Verbs.ask(exchange, context, nodeId, verb, request, bound, decode);
    }

    private static RefusedException refused(String nodeId, ControlVerb verb, String error) {
        return new RefusedException(verb + " of node " + nodeId + " was refused: " + error);
    }

    private static void requireOperation(String operationId) {
        if (operationId.isEmpty()) {
            throw new IllegalArgumentException("a load operation needs its operation id");
        }
    }
}
