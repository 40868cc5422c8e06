package org.nemorelay.seams.control;

import java.util.function.Consumer;
import org.nemorelay.seams.Context;
import org.nemorelay.workerctl.BackendInstallProgressEvent;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;
import org.nemorelay.workerctl.ModelStopReply;
import org.nemorelay.workerctl.ModelStopRequest;
import org.nemorelay.workerctl.OperationReply;
import org.nemorelay.workerctl.OperationRequest;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The verbs of load operations, which every control carrier implements (distributed-seams 4.8). Timing and errors, each
 * clause pinned by {@code LoadOperationConformance}:
 *
 * <ol>
 *   <li>Each call has a bound of its own and does not outlast it; a bound of zero is a fault of the configuration
 *       ({@code everyCallHasABoundOfItsOwn}).
 *   <li>Renewals come every 5 s for each running load. A carrier delivers within that time or fails within it
 *       ({@code renewalsFailWithinOneCadence}); a worker kills a load that is not renewed for 90 s.
 *   <li>Completion is retried by the caller; losing it is not fatal.
 *   <li>A stop may be repeated and is answered terminated again ({@code aRepeatedStopIsAnsweredAgain}); without an operation
 *       id it is an {@link IllegalArgumentException} and nothing is sent ({@code aStopWithoutOperationSendsNothing}).
 *   <li>Nobody listens: {@link org.nemorelay.seams.NoRouteException}, from every call
 *       ({@code nobodyListeningIsNoRoute}). No answer in time: {@link org.nemorelay.seams.TimedOutException}
 *       ({@code silenceIsATimeoutAndNothingElse}).
 *   <li>The worker's refusal comes back in the reply ({@code aRefusalIsTheReply}), from {@link #unloadReplica}, which has
 *       none, as {@link org.nemorelay.seams.RefusedException} ({@code aRefusedUnloadIsARefusal}).
 *   <li>The deadline crosses as relative milliseconds ({@code requestsCarryTheirFields}).
 *   <li>An unload without an address sends nothing and succeeds ({@code anUnloadWithoutAddressSendsNothing}).
 *   <li>{@link #stopModelReplica} names key, address and revision and never falls back to {@code backend.stop}
 *       ({@code stoppingAReplicaNamesItExactly}).
 * </ol>
 *
 * <p>Whether a worker tracks operations is its own report in the install reply, never a property of the carrier. Calls
 * block; they are for virtual threads.
 */
@ProviderType
public interface LoadOperationControl {
    /** Installs and starts as part of the load operation that the request names. */
    BackendInstallReply installBackendOp(
            String nodeId, BackendInstallRequest request, Consumer<BackendInstallProgressEvent> onProgress);

    /** Stops the process of one load operation. */
    ModelStopReply stopLoadOperation(Context context, String nodeId, ModelStopRequest request);

    /** Renews and completes load operations. */
    OperationReply operationControl(String nodeId, OperationRequest request);

    /** Frees the model at the replica's exact address. */
    void unloadReplica(String nodeId, Replica replica);

    /** Stops the replica's process, by key, address and revision. */
    ModelStopReply stopModelReplica(Context context, String nodeId, Replica replica, boolean force);
}
