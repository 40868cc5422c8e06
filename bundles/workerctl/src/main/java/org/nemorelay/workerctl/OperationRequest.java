package org.nemorelay.workerctl;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Renews and completes load operations, all of one node in one request. */
public record OperationRequest(List<String> renew, List<String> complete) implements WireRecord {
    public OperationRequest {
        renew = List.copyOf(renew);
        complete = List.copyOf(complete);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static OperationRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static OperationRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new OperationRequest(in.strings("renew"), in.strings("complete"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .strings("renew", renew)
                .strings("complete", complete)
                .done();
    }
}
