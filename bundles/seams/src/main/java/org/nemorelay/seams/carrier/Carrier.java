package org.nemorelay.seams.carrier;

import java.util.Optional;
import java.util.Set;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.control.AgentControl;
import org.nemorelay.seams.control.AgentRpcServer;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlServers;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.ModelProber;
import org.nemorelay.seams.dial.NodeEndpoints;
import org.nemorelay.seams.dial.WorkerDialers;
import org.nemorelay.seams.staging.FileStager;
import org.nemorelay.seams.staging.ObjectStore;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * One transport's implementation of the seams, registered as a service with the property {@value #NAME} set to
 * {@link #name()}. All its seams come and go together, which is what makes a switch one decision. Only the facades use it;
 * everybody else uses the seam's own interface, which the facades register. What {@link #seams()} leaves out throws
 * {@link NotServedException}, what it names passes the suites of {@code org.nemorelay.testkit}.
 *
 * <p>Where a consumer's event publisher is simply this transport, it is the object that {@link #broadcaster()} returns.
 */
@ConsumerType
public interface Carrier extends ControlServers {
    /** The service property that holds the name. */
    String NAME = "carrier";

    /** The name of this instance; two connections to two servers are two names. */
    String name();

    Set<Seam> seams();

    /** Whether this process's own link is up. Never evidence about a node. */
    boolean connected();

    /**
     * What this end is attached to: where two ends name the same, messages go from one to the other, though interest may
     * take its time to spread. Empty when nobody else is attached, or it is not known.
     */
    default Optional<String> network() {
        return Optional.empty();
    }

    default Broadcaster broadcaster() {
        throw lacks(Seam.FAN_OUT);
    }

    default WorkQueue workQueue() {
        throw lacks(Seam.QUEUES);
    }

    default WorkConsumer workConsumer() {
        throw lacks(Seam.QUEUES);
    }

    default NodeCommandSender commands() {
        throw lacks(Seam.CONTROL);
    }

    @Override
    default ControlServer controlServer(String nodeId) {
        throw lacks(Seam.CONTROL);
    }

    default AgentControl agentControl() {
        throw lacks(Seam.AGENT_RPC);
    }

    default AgentRpcServer agentRpcServer() {
        throw lacks(Seam.AGENT_RPC);
    }

    default BackendClientFactory backendClients() {
        throw lacks(Seam.DIAL);
    }

    default ModelProber prober() {
        throw lacks(Seam.DIAL);
    }

    default WorkerDialers dialers() {
        throw lacks(Seam.DIAL);
    }

    /** The worker's half of dialling; not served by carriers that dial addresses. */
    default NodeEndpoints endpoints() {
        throw lacks(Seam.DIAL);
    }

    default FileStager stager() {
        throw lacks(Seam.STAGING);
    }

    /** The store between frontend and worker; not served by carriers that move files without one. */
    default ObjectStore store() {
        throw lacks(Seam.STAGING);
    }

    private NotServedException lacks(Seam seam) {
        return new NotServedException("carrier " + name() + " does not serve " + seam);
    }
}
