package org.nemorelay.control;

import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.control.ServerEvent;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Hears what the daemon says on a session, in order, on the session's own thread: a call must not block. Directives and
 * drains are acknowledged already. Calls may come before the registration has returned.
 */
@ConsumerType
public interface ControlListener {
    /** How much may wait for whoever hears a session (relay-daemon 3.8). */
    int MAX_QUEUED = 1_024;

    /** MCP sessions only. Returns false where there is no room for it any more: the connection is closed then. */
    default boolean directive(Directive directive) {
        return true;
    }

    /** Worker sessions only. It may be told again; what it was told first holds. */
    default void drain(ServerEvent.Drain drain) {}

    /** MCP sessions only: why the daemon cannot reach the user's worker. */
    default void unreachable(ServerEvent.WorkerUnreachable unreachable) {}

    /** The connection is gone, whoever ended it; the last call. */
    default void disconnected() {}
}
