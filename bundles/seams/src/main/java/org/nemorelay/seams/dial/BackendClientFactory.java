package org.nemorelay.seams.dial;

import org.osgi.annotation.versioning.ProviderType;

/**
 * The one place where connections to backends are made (distributed-seams 7). The node is part of the call because a
 * carrier that routes by node cannot recover it from the address; one that dials the address ignores it. Making a client
 * does not dial. Pinned by {@code DialConformance}.
 */
@ProviderType
@FunctionalInterface
public interface BackendClientFactory {
    /**
     * @param parallel whether the backend takes several calls at a time; otherwise the client sends one after the other
     * @throws org.nemorelay.seams.NoDialerException when this carrier has no way to the node
     */
    BackendClient newClient(String nodeId, String address, boolean parallel);
}
