package org.nemorelay.seams.control;

import java.util.function.Consumer;
import org.nemorelay.workerctl.BackendDeleteReply;
import org.nemorelay.workerctl.BackendInstallProgressEvent;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;
import org.nemorelay.workerctl.BackendListReply;
import org.nemorelay.workerctl.BackendUpgradeReply;
import org.nemorelay.workerctl.BackendUpgradeRequest;
import org.nemorelay.workerctl.ModelDeleteReply;
import org.nemorelay.workerctl.ModelsRunningReply;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The frontend's half of the control verbs (distributed-seams 4.5). As for {@link LoadOperationControl}: nobody listening
 * is {@link org.nemorelay.seams.NoRouteException}, no answer in time a {@link org.nemorelay.seams.TimedOutException} (for an
 * installation or upgrade {@link org.nemorelay.seams.StillInstallingException}), the worker's refusal is in the reply, or a
 * {@link org.nemorelay.seams.RefusedException} where the method returns none. Pinned by {@code CommandSenderConformance}.
 *
 * <p>{@code onProgress} is called when the request names an {@code opId}; the events come before the reply where the
 * transport allows, and a lost one is only lost.
 */
@ProviderType
public interface NodeCommandSender extends LoadOperationControl {
    /** Installs and starts. A forced installation, which stands for an upgrade at an old worker, has the upgrade's bound. */
    BackendInstallReply installBackend(
            String nodeId, BackendInstallRequest request, Consumer<BackendInstallProgressEvent> onProgress);

    /** Upgrades. No fall back: on no route the caller may send {@link BackendUpgradeRequest#asForcedInstall} once. */
    BackendUpgradeReply upgradeBackend(
            String nodeId, BackendUpgradeRequest request, Consumer<BackendInstallProgressEvent> onProgress);

    BackendDeleteReply deleteBackend(String nodeId, String backend);

    BackendListReply listBackends(String nodeId);

    ModelsRunningReply modelsRunning(String nodeId);

    /** Stops by backend, model or process key; empty for all. A time-out is an old worker that does not answer, and a success. */
    void stopBackend(String nodeId, String backend, boolean force);

    /** Frees a model at an address; empty frees nothing. */
    void unloadModel(String nodeId, String modelName, String address);

    ModelDeleteReply deleteModel(String nodeId, String modelName);

    /** Tells the node to end. Nobody answers, so nothing is learnt. */
    void stopNode(String nodeId);

    /**
     * Returns when the node is not known to be without a route: after any answer, and after any failure but no route,
     * since neither silence nor our own link is evidence.
     *
     * @throws org.nemorelay.seams.NoRouteException when nobody listens for the node
     */
    void pingNode(String nodeId);
}
