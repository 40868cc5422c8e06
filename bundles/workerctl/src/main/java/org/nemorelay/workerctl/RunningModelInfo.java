package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** One live process of a worker. */
public record RunningModelInfo(
        String modelId, int replicaIndex, String address, String operationId, String processInstance)
        implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static RunningModelInfo decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static RunningModelInfo fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new RunningModelInfo(
                in.string("model_id"),
                in.int32("replica_index"),
                in.string("address"),
                in.string("operation_id"),
                in.string("process_instance"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("model_id", modelId)
                .put("replica_index", replicaIndex)
                .nonEmpty("address", address)
                .nonEmpty("operation_id", operationId)
                .nonEmpty("process_instance", processInstance)
                .done();
    }
}
