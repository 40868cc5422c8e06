package org.nemorelay.worker.internal.observe;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A model request.
 *
 * @param headers names in lower case
 * @param body what its record has of it; empty where nobody read it
 */
record ObservedRequest(
        Instant time, ModelApi api, String path, Map<String, String> headers, Optional<RequestCopy> body) {}
