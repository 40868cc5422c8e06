package org.nemorelay.control;

import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.Secret;

/**
 * A worker session that the daemon knows; it is routed to after {@code ready}.
 *
 * @param dataToken what requests from the daemon carry
 * @param generationGrant what the worker comes back with after a lost connection
 */
public record WorkerRegistration(ControlSession session, Secret dataToken, GenerationGrant generationGrant) {}
