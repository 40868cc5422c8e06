package org.nemorelay.broker;

import org.nemorelay.protocol.Directive;

/**
 * The answer to a registered MCP session.
 *
 * @param newSession false when the session was known and came back on a new socket
 */
public record Registration(Directive directive, boolean newSession) {}
