package org.nemorelay.worker.internal.observe;

import java.util.Map;
import java.util.Optional;

/**
 * What the copy of a model's answer holds.
 *
 * @param status the provider's HTTP status; 0 when no answer's head came
 * @param terminal how the copy ended
 * @param truncated the copy lacks bytes that the client got
 * @param answer what could be read of it
 * @param undecoded the content coding that kept it from being read; empty where none did
 */
record CallResult(
        int status,
        Terminal terminal,
        boolean truncated,
        Optional<Map<String, Object>> answer,
        Optional<String> undecoded) {}
