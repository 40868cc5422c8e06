package org.nemorelay.workerctl;

import java.time.Duration;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Asks a worker to have a backend installed and a process of it running for one replica of a model (distributed-seams 4.2). {@code force} is what frontends sent before there was an upgrade verb. {@code opId} names the progress stream, empty for none; {@code operationId} the load operation; {@code deadlineMs} is relative, in milliseconds, 0 for the worker's own default. */
public record BackendInstallRequest(
        String backend,
        String modelId,
        String backendGalleries,
        String uri,
        String name,
        String alias,
        int replicaIndex,
        boolean force,
        String opId,
        String operationId,
        long deadlineMs)
        implements WireRecord {
    /** The plain installation of a backend for one replica of a model. */
    public static BackendInstallRequest of(String backend, String modelId, int replicaIndex) {
        return new BackendInstallRequest(backend, modelId, "", "", "", "", replicaIndex, false, "", "", 0);
    }

    public BackendInstallRequest withProgress(String newOpId) {
        return new BackendInstallRequest(
                backend,
                modelId,
                backendGalleries,
                uri,
                name,
                alias,
                replicaIndex,
                force,
                newOpId,
                operationId,
                deadlineMs);
    }

    /** The same request as part of a load operation that may take {@code deadline} from its arrival at the worker. */
    public BackendInstallRequest withOperation(String id, Duration deadline) {
        return new BackendInstallRequest(
                backend,
                modelId,
                backendGalleries,
                uri,
                name,
                alias,
                replicaIndex,
                force,
                opId,
                id,
                deadline.toMillis());
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendInstallRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static BackendInstallRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new BackendInstallRequest(
                in.string("backend"),
                in.string("model_id"),
                in.string("backend_galleries"),
                in.string("uri"),
                in.string("name"),
                in.string("alias"),
                in.int32("replica_index"),
                in.bool("force"),
                in.string("op_id"),
                in.string("operation_id"),
                in.int64("deadline_ms"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("backend", backend)
                .nonEmpty("model_id", modelId)
                .nonEmpty("backend_galleries", backendGalleries)
                .nonEmpty("uri", uri)
                .nonEmpty("name", name)
                .nonEmpty("alias", alias)
                .nonEmpty("replica_index", replicaIndex)
                .nonEmpty("force", force)
                .nonEmpty("op_id", opId)
                .nonEmpty("operation_id", operationId)
                .nonEmpty("deadline_ms", deadlineMs)
                .done();
    }
}
