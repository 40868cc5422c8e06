package org.nemorelay.broker;

import org.nemorelay.protocol.Fingerprint;

/** One MCP session, without secrets. */
public record SessionStatus(String sessionId, Fingerprint fingerprint, boolean connected) {}
