package org.nemorelay.seams.dial;

import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/** Where the nodes' own servers are, as they have reported it; from who keeps the nodes, for carriers that dial addresses. */
@ConsumerType
@FunctionalInterface
public interface NodeAddresses {
    /** {@code host:port}; empty for a node that is not known or has reported none. */
    Optional<String> serverAddress(String nodeId);
}
