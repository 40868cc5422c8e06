package org.nemorelay.control;

import org.nemorelay.protocol.Directive;

/** An MCP session that the daemon knows, and the first thing it is told to do. */
public record McpRegistration(ControlSession session, Directive directive) {}
