package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Stops exactly one process, named by key and expected address, and for a load operation by its id and instance too. */
public record ModelStopRequest(
        String modelName,
        String processKey,
        String expectedAddress,
        boolean force,
        String configRevision,
        String operationId,
        String processInstance)
        implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static ModelStopRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static ModelStopRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new ModelStopRequest(
                in.string("model_name"),
                in.string("process_key"),
                in.string("expected_address"),
                in.bool("force"),
                in.string("config_revision"),
                in.string("operation_id"),
                in.string("process_instance"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("model_name", modelName)
                .put("process_key", processKey)
                .put("expected_address", expectedAddress)
                .nonEmpty("force", force)
                .nonEmpty("config_revision", configRevision)
                .nonEmpty("operation_id", operationId)
                .nonEmpty("process_instance", processInstance)
                .done();
    }
}
