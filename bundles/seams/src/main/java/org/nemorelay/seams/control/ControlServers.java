package org.nemorelay.seams.control;

import org.osgi.annotation.versioning.ProviderType;

/** Where the worker's half of the control verbs begins. */
@ProviderType
@FunctionalInterface
public interface ControlServers {
    /** A server for one node, for its owner to close. */
    ControlServer controlServer(String nodeId);
}
