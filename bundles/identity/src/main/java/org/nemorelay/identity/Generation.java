package org.nemorelay.identity;

import java.util.Optional;
import org.nemorelay.protocol.Fingerprint;

/**
 * The worker generation that serves a user.
 *
 * @param activationId the launch that brought it up; absent in files of older daemons
 */
public record Generation(Fingerprint fingerprint, String generationId, Optional<String> activationId) {}
