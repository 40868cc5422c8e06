package org.nemorelay.daemon.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.RouteStatus.WorkerStatus;
import org.nemorelay.json.Json;

/** The bodies of the unauthenticated status paths: no token, no secret, no address (relay-daemon 2). Keys are sorted. */
final class StatusPages {
    private final String instanceId;
    private final String health;

    StatusPages(String instanceId, String version, boolean passThrough) {
        this.instanceId = instanceId;
        this.health = Json.write(Json.object(
                "deployment_mode",
                passThrough ? "pass_through" : "managed",
                "instance_id",
                instanceId,
                "service",
                "nemo-relay-daemon",
                "status",
                "ok",
                "version",
                version));
    }

    String health() {
        return health;
    }

    String ids(List<WorkerStatus> workers) {
        return page("workers", workers.stream().map(WorkerStatus::workerId).toList());
    }

    String all(List<WorkerStatus> workers) {
        List<Object> items = new ArrayList<>();
        workers.forEach(worker -> items.add(json(worker)));
        return page("workers", items);
    }

    Optional<String> one(List<WorkerStatus> workers, String id) {
        return workers.stream()
                .filter(worker -> worker.workerId().equals(id))
                .findFirst()
                .map(worker -> page("worker", json(worker)));
    }

    private String page(String key, Object value) {
        return Json.write(Json.object("instance_id", instanceId, "status", "ok", key, value));
    }

    private static Object json(WorkerStatus worker) {
        return Json.object(
                "control_available",
                worker.controlAvailable(),
                "in_flight",
                worker.inFlight(),
                "reference_count",
                worker.referenceCount(),
                "state",
                worker.state().word(),
                "worker_id",
                worker.workerId());
    }
}
