package org.nemorelay.broker;

import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.TokenDigest;

/** What an MCP session says about itself when it registers; proofs are already checked. */
public record McpRegistration(String sessionId, Fingerprint fingerprint, TokenDigest token, NetworkHint network) {}
