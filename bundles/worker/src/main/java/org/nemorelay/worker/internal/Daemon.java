package org.nemorelay.worker.internal;

import java.util.List;
import org.nemorelay.control.ControlListener;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.SettingReport;

/**
 * The daemon as a worker's life needs it. Calls wait for the daemon, until the deadline ({@link System#nanoTime()}) where
 * they have one, and fail as {@link RelayException}s.
 */
interface Daemon {
    /** This worker's id, one for its whole life. */
    String workerId();

    /** The first registration, with the grant. */
    Link register(String endpoint, LaunchGrant grant, ControlListener listener, long deadlineNanos);

    /** A registration after a lost connection; there has been one before. */
    Link recover(String endpoint, ControlListener listener, long deadlineNanos);

    /** One control connection. */
    interface Link extends AutoCloseable {
        /** What the daemon's requests carry from its next probe on. */
        Secret dataToken();

        /** Has the daemon probe and publish this worker. */
        void ready(long deadlineNanos);

        /** Tells about the plugins, if the daemon cares to hear it. */
        void report(List<PluginReport> plugins, List<SettingReport> settings);

        /**
         * Has the daemon send nothing more, with a drain to say when nothing is under way; false where it does not know how,
         * and this worker must refuse by itself.
         */
        boolean leave();

        @Override
        void close();
    }
}
