package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Frees the model at an address; without an address nothing is freed. */
public record ModelUnloadRequest(String modelName, String address, String processInstance) implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static ModelUnloadRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static ModelUnloadRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new ModelUnloadRequest(in.string("model_name"), in.string("address"), in.string("process_instance"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("model_name", modelName)
                .nonEmpty("address", address)
                .nonEmpty("process_instance", processInstance)
                .done();
    }
}
