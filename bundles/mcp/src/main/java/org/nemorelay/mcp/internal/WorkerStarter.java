package org.nemorelay.mcp.internal;

import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.control.ActivationFailure;

/** Brings up the worker that a grant allows. */
interface WorkerStarter {
    /** Starts the process and hands it the grant; does not wait for it to be ready. */
    Process start(LaunchGrant grant) throws StartFailure;

    /** A worker that could not be started, with the reason the daemon is told. */
    final class StartFailure extends Exception {
        private static final long serialVersionUID = 1L;

        private final ActivationFailure reason;

        StartFailure(ActivationFailure reason, String message) {
            super(message);
            this.reason = reason;
        }

        ActivationFailure reason() {
            return reason;
        }
    }
}
