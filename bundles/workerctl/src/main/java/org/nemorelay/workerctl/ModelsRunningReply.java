package org.nemorelay.workerctl;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** The live processes of a worker, those that are stopping left out. */
public record ModelsRunningReply(List<RunningModelInfo> models, String error, boolean reportsOperations)
        implements WireRecord {
    public ModelsRunningReply {
        models = List.copyOf(models);
    }

    /** The worker's refusal. */
    public static ModelsRunningReply refused(String error) {
        return new ModelsRunningReply(List.of(), error, false);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static ModelsRunningReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static ModelsRunningReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new ModelsRunningReply(
                in.records("models", RunningModelInfo::fromJson), in.string("error"), in.bool("reports_operations"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("models", FieldWriter.list(models))
                .nonEmpty("error", error)
                .nonEmpty("reports_operations", reportsOperations)
                .done();
    }
}
