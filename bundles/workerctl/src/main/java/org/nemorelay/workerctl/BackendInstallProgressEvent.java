package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** How far an installation or upgrade has come; {@code percentage} from 0 to 100. */
public record BackendInstallProgressEvent(
        String opId,
        String nodeId,
        String backend,
        String fileName,
        String current,
        String total,
        double percentage,
        String phase)
        implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendInstallProgressEvent decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static BackendInstallProgressEvent fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new BackendInstallProgressEvent(
                in.string("op_id"),
                in.string("node_id"),
                in.string("backend"),
                in.string("file_name"),
                in.string("current"),
                in.string("total"),
                in.number("percentage"),
                in.string("phase"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("op_id", opId)
                .put("node_id", nodeId)
                .put("backend", backend)
                .nonEmpty("file_name", fileName)
                .nonEmpty("current", current)
                .nonEmpty("total", total)
                .number("percentage", percentage)
                .nonEmpty("phase", phase)
                .done();
    }
}
