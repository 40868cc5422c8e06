package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Asks a worker to stop every process of a backend and to install it anew. */
public record BackendUpgradeRequest(
        String backend, String backendGalleries, String uri, String name, String alias, int replicaIndex, String opId)
        implements WireRecord {
    /** The installation that a worker without the upgrade verb understands as the same wish. */
    public BackendInstallRequest asForcedInstall() {
        return new BackendInstallRequest(
                backend, "", backendGalleries, uri, name, alias, replicaIndex, true, opId, "", 0);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendUpgradeRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static BackendUpgradeRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new BackendUpgradeRequest(
                in.string("backend"),
                in.string("backend_galleries"),
                in.string("uri"),
                in.string("name"),
                in.string("alias"),
                in.int32("replica_index"),
                in.string("op_id"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("backend", backend)
                .nonEmpty("backend_galleries", backendGalleries)
                .nonEmpty("uri", uri)
                .nonEmpty("name", name)
                .nonEmpty("alias", alias)
                .nonEmpty("replica_index", replicaIndex)
                .nonEmpty("op_id", opId)
                .done();
    }
}
