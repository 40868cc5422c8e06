package org.nemorelay.workerctl;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Answer to {@link OperationRequest}: an id to renew that the worker does not know is {@code unknown}, an unknown one to complete counts as completed. */
public record OperationReply(List<String> renewed, List<String> completed, List<String> unknown) implements WireRecord {
    public OperationReply {
        renewed = List.copyOf(renewed);
        completed = List.copyOf(completed);
        unknown = List.copyOf(unknown);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static OperationReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static OperationReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new OperationReply(in.strings("renewed"), in.strings("completed"), in.strings("unknown"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .strings("renewed", renewed)
                .strings("completed", completed)
                .strings("unknown", unknown)
                .done();
    }
}
