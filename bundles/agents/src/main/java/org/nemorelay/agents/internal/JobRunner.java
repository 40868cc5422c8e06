package org.nemorelay.agents.internal;

import java.time.Duration;
import java.util.Optional;
import org.nemorelay.fleet.JobEvent;
import org.nemorelay.fleet.JobProgress;
import org.nemorelay.fleet.JobResult;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.CancelRegistry;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Publisher;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** Runs tasks and CI jobs (distributed-seams 3.4): the outcome, whatever it is, goes to the delivery's publisher. */
final class JobRunner implements WorkHandler {
    private static final String TARGET = "nemo_relay.agents";

    private final Chat chat;
    private final boolean needsServers;
    private final Duration limit;
    private final CancelRegistry cancels;
    private final EventLog log;

    /** @param needsServers whether a model without MCP servers is a failure, as for CI jobs */
    JobRunner(Chat chat, boolean needsServers, Duration limit, CancelRegistry cancels, EventLog log) {
        this.chat = chat;
        this.needsServers = needsServers;
        this.limit = limit;
        this.cancels = cancels;
        this.log = log;
    }

    @Override
    public void handle(Context context, byte[] payload, Publisher events) {
        JobEvent job;
        try {
            job = JobEvent.decode(payload);
        } catch (JsonException e) {
            log.log(Level.WARN, TARGET, "job_undecodable", "Dropped a job that is not understood: " + e.getMessage());
            return;
        }
        try (Context.Cancellable own = context.withTimeout(limit).cancellable()) {
            cancels.register(job.jobId(), own::cancel);
            publish(events, job, JobProgress.of(job.jobId(), "running", ""));
            JobResult result = result(own, job);
            events.publish(Subjects.jobResult(job.jobId()), result.encode());
            publish(events, job, JobProgress.of(job.jobId(), result.status(), ""));
        } finally {
            cancels.deregister(job.jobId());
        }
    }

    private static void publish(Publisher events, JobEvent job, JobProgress progress) {
        events.publish(Subjects.jobProgress(job.jobId()), progress.encode());
    }

    private JobResult result(Context context, JobEvent job) {
        try {
            if (job.job().isEmpty() || job.task().isEmpty()) {
                throw new RefusedException("job or task is missing in the payload");
            }
            JsonObject task = job.task().get();
            JsonObject config = job.modelConfig()
                    .or(() -> needsServers ? Optional.empty() : Optional.of(task))
                    .orElseThrow(() -> new RefusedException("the model's configuration is missing in the payload"));
            if (needsServers && !servers(config)) {
                throw new RefusedException("no MCP servers are configured for the model");
            }
            String answer = chat.ask(context, task.string("model"), task.string("prompt"));
            return new JobResult(job.jobId(), JobResult.COMPLETED, answer, "");
        } catch (CancelledException e) {
            return new JobResult(job.jobId(), JobResult.CANCELLED, "", e.getMessage());
        } catch (SeamException | JsonException e) {
            return new JobResult(job.jobId(), JobResult.FAILED, "", e.getMessage());
        }
    }

    private static boolean servers(JsonObject config) {
        return config.optionalObject("mcp").map(mcp -> !mcp.values().isEmpty()).orElse(false);
    }
}
