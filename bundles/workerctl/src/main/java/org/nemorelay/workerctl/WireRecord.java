package org.nemorelay.workerctl;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.nemorelay.json.Json;
import org.osgi.annotation.versioning.ConsumerType;

/** A value with one exact JSON form. Frontends and workers are upgraded at different times, so the form never changes, it only grows. */
@ConsumerType
public interface WireRecord {
    /** The fields in wire order, those that are left out when empty already left out. */
    Map<String, Object> toJson();

    /** The compact UTF-8 JSON. */
    default byte[] encode() {
        return Json.write(toJson()).getBytes(StandardCharsets.UTF_8);
    }
}
