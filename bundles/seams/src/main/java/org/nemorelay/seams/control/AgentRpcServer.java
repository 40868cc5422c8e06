package org.nemorelay.seams.control;

import org.nemorelay.seams.Registration;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The agent worker's half (distributed-seams 6). Servers share the calls; each runs one tool call and one discovery at a
 * time, which may overlap. A body that cannot be decoded is answered with {@code unmarshal error: <cause>}. The node's
 * backend stop reaches every server of the node, is never answered, and dropped when it cannot be decoded. Faults of the
 * program are treated as in {@link ControlServer#handle}. Pinned by {@code AgentRpcConformance}.
 */
@ProviderType
public interface AgentRpcServer {
    /** Serves until closed; closing waits for running handlers. A failure to subscribe names the verb. */
    Registration serve(String nodeId, AgentRpcHandler handler);
}
