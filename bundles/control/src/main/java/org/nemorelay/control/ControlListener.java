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
    /** MCP sessions only. */
    default void directive(Directive directive) {}

    /** Worker sessions only. */
    default void drain(ServerEvent.Drain drain) {}

    /** The connection is gone, whoever ended it; the last call. */
    default void disconnected() {}
}
