package org.nemorelay.agents.internal;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.agents.internal.mcp.McpException;
import org.nemorelay.agents.internal.mcp.McpServers;
import org.nemorelay.agents.internal.mcp.McpSessions;
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
    /** Where the jobs of this kind need MCP servers. */
    private final Optional<McpSessions> mcp;

    private final Duration limit;
    private final CancelRegistry cancels;
    private final EventLog log;

    /** @param mcp there for CI jobs, for which a model without MCP servers is a failure */
    JobRunner(Chat chat, Optional<McpSessions> mcp, Duration limit, CancelRegistry cancels, EventLog log) {
        this.chat = chat;
        this.mcp = mcp;
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
            JobResult result = result(own, job, events);
            events.publish(Subjects.jobResult(job.jobId()), result.encode());
            publish(events, job, JobProgress.of(job.jobId(), result.status(), ""));
        } finally {
            cancels.deregister(job.jobId());
        }
    }

    private static void publish(Publisher events, JobEvent job, JobProgress progress) {
        events.publish(Subjects.jobProgress(job.jobId()), progress.encode());
    }

    private JobResult result(Context context, JobEvent job, Publisher events) {
        try {
            if (job.job().isEmpty() || job.task().isEmpty()) {
                throw new RefusedException("job or task is missing in the payload");
            }
            JsonObject task = job.task().get();
            String model = task.string("model");
            String prompt = task.string("prompt");
            String answer = mcp.isEmpty()
                    ? chat.ask(context, model, prompt)
                    : new ToolJob(
                                    chat,
                                    mcp.get(),
                                    (type, content) ->
                                            publish(events, job, new JobProgress(job.jobId(), "", "", type, content)))
                            .run(context, model, prompt, servers(job));
            return new JobResult(job.jobId(), JobResult.COMPLETED, answer, "");
        } catch (CancelledException e) {
            return new JobResult(job.jobId(), JobResult.CANCELLED, "", e.getMessage());
        } catch (SeamException | JsonException e) {
            return new JobResult(job.jobId(), JobResult.FAILED, "", e.getMessage());
        }
    }

    private static McpServers servers(JobEvent job) {
        JsonObject config = job.modelConfig()
                .orElseThrow(() -> new RefusedException("the model's configuration is missing in the payload"));
        try {
            Optional<JsonObject> table = config.optionalObject("mcp");
            McpServers servers = table.isPresent() ? McpServers.of(table.get()) : new McpServers(Map.of());
            if (servers.servers().isEmpty()) {
                throw new RefusedException("no MCP servers are configured for the model");
            }
            return servers;
        } catch (McpException e) {
            throw new RefusedException("parse error: " + e.getMessage());
        }
    }
}
