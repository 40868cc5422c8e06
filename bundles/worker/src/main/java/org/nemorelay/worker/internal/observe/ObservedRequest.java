package org.nemorelay.worker.internal.observe;

import java.time.Instant;
import java.util.Map;

/**
 * The head of a model request.
 *
 * @param headers names in lower case
 */
record ObservedRequest(Instant time, ModelApi api, String path, Map<String, String> headers) {}
