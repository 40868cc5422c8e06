package org.nemorelay.frontend.internal;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.nemorelay.fleet.JobEvent;
import org.nemorelay.fleet.JobProgress;
import org.nemorelay.fleet.JobResult;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;

/** Jobs that this frontend has put into the queues, and what the workers told of them; the last thousand, in memory. */
final class Jobs implements Registration {
    private static final int KEPT = 1_000;

    /** @param status {@code queued} until a worker tells */
    record Job(String id, String status, String message, String result, String error) {
        Map<String, Object> json() {
            return Json.object("job_id", id, "status", status, "message", message, "result", result, "error", error);
        }
    }

    private final WorkQueue queue;
    private final Subscription progress;
    private final Subscription results;
    private final Map<String, Job> jobs = new LinkedHashMap<>();

    Jobs(WorkQueue queue, Broadcaster events) {
        this.queue = queue;
        this.progress = events.subscribe("jobs.*.progress", this::progress);
        this.results = events.subscribe("jobs.*.result", this::result);
    }

    /**
     * Puts a job into the queue of its kind: that of CI jobs where the model has MCP servers, else that of tasks.
     *
     * @throws JsonException for a request without model or prompt
     */
    String submit(JsonObject request) {
        String id = UUID.randomUUID().toString();
        JsonObject task = JsonObject.of(
                Json.object(
                        "id", id,
                        "name", request.optionalString("name").orElse(id),
                        "model", request.string("model"),
                        "prompt", request.string("prompt"),
                        "enabled", true),
                "task");
        JsonObject config = JsonObject.of(
                Json.object(
                        "name", request.string("model"), "mcp", request.values().getOrDefault("mcp", Map.of())),
                "model_config");
        boolean servers =
                config.optionalObject("mcp").map(mcp -> !mcp.values().isEmpty()).orElse(false);
        JsonObject job = JsonObject.of(Json.object("id", id, "task_id", id, "status", "queued"), "job");
        keep(new Job(id, "queued", "", "", ""));
        try {
            queue.enqueue(
                    Context.background(),
                    servers ? WorkKind.MCP_CI : WorkKind.TASK,
                    new JobEvent(id, id, "", Optional.of(job), Optional.of(task), Optional.of(config)).encode());
        } catch (RuntimeException e) {
            forget(id);
            throw e;
        }
        return id;
    }

    private synchronized void keep(Job job) {
        jobs.put(job.id(), job);
        if (jobs.size() > KEPT) {
            jobs.remove(jobs.keySet().iterator().next());
        }
    }

    private synchronized void forget(String id) {
        jobs.remove(id);
    }

    synchronized Optional<Job> job(String id) {
        return Optional.ofNullable(jobs.get(id));
    }

    private void progress(Message message) {
        try {
            JobProgress event = JobProgress.decode(message.body());
            // The end is the result's to tell: the two come on subscriptions of their own, in any order.
            change(event.jobId(), over(event.status()) ? "" : event.status(), event.message(), "", "");
        } catch (JsonException e) {
            // Somebody else's idea of an event.
        }
    }

    private void result(Message message) {
        try {
            JobResult event = JobResult.decode(message.body());
            change(event.jobId(), event.status(), "", event.result(), event.error());
        } catch (JsonException e) {
            // Somebody else's idea of an event.
        }
    }

    /** A result is final: progress that comes after it changes nothing. */
    private synchronized void change(String id, String status, String message, String result, String error) {
        jobs.computeIfPresent(id, (key, job) -> {
            return over(job.status())
                    ? job
                    : new Job(id, status.isEmpty() ? job.status() : status, message, result, error);
        });
    }

    private static boolean over(String status) {
        return switch (status) {
            case JobResult.COMPLETED, JobResult.FAILED, JobResult.CANCELLED -> true;
            default -> false;
        };
    }

    @Override
    public void close() {
        progress.unsubscribe();
        results.unsubscribe();
    }
}
