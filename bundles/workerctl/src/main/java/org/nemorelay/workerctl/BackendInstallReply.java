package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Answer to {@link BackendInstallRequest}: {@code address} is host:port of the process, {@code reportsOperations} says that this worker tracks load operations. */
public record BackendInstallReply(
        boolean success, String address, String error, String processInstance, boolean reportsOperations)
        implements WireRecord {
    /** The worker's refusal. */
    public static BackendInstallReply refused(String error) {
        return new BackendInstallReply(false, "", error, "", false);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendInstallReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static BackendInstallReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new BackendInstallReply(
                in.bool("success"),
                in.string("address"),
                in.string("error"),
                in.string("process_instance"),
                in.bool("reports_operations"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("success", success)
                .nonEmpty("address", address)
                .nonEmpty("error", error)
                .nonEmpty("process_instance", processInstance)
                .nonEmpty("reports_operations", reportsOperations)
                .done();
    }
}
