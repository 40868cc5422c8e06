package org.nemorelay.protocol.control;

/** One frame from client to daemon; {@code requestId} has 1..128 bytes and comes back in the reply. */
public record CommandFrame(String requestId, ClientCommand command) {}
