package org.nemorelay.telemetry;

import org.nemorelay.protocol.RelayException;
import org.osgi.annotation.versioning.ProviderType;

/** How a role's component tells its process that it serves, cannot start, or is done. Safe for any thread; the first end wins. */
@ProviderType
public interface ProcessControl {
    /** The role serves now. */
    void ready();

    /** The role cannot go on: its line goes to standard error once and the process exits 1. */
    void fail(RelayException failure);

    /** The role has ended by itself: the framework stops and the process exits with this status. */
    void exit(int status);
}
