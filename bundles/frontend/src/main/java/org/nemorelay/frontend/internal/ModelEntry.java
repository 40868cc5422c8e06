package org.nemorelay.frontend.internal;

import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/**
 * A model that this frontend serves. It knows no address, so nothing can be dialled from a list of them (seed, open item 1).
 *
 * @param file path at the frontend, sent to a node before the model is loaded; empty for a backend that needs none
 */
record ModelEntry(String name, String backend, String file, int contextSize) {
    static ModelEntry parse(String json) {
        JsonObject object = Json.parseObject(json);
        return new ModelEntry(
                object.string("name"),
                object.string("backend"),
                object.optionalString("file").orElse(""),
                object.has("context_size") ? (int) object.integer("context_size", 0, Integer.MAX_VALUE) : 0);
    }
}
