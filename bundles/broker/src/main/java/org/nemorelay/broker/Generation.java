package org.nemorelay.broker;

import java.util.Optional;

/** One published worker as the generation file keeps it (relay-daemon 4.2). */
public record Generation(String generationId, Optional<String> activationId) {}
