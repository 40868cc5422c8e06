package org.nemorelay.agents.internal;

import java.time.Duration;
import java.util.Optional;
import org.nemorelay.fleet.AgentChat;
import org.nemorelay.fleet.AgentEvent;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.CancelRegistry;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Publisher;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * Runs one agent message. Its events go through the delivery's own publisher; the registry of cancellations is the
 * process's, so that a cancel finds a run whichever delivery brought it (seed, open item 10).
 */
final class AgentRunner implements WorkHandler {
    private static final String TARGET = "nemo_relay.agents";

    private final Chat chat;
    private final Duration limit;
    private final CancelRegistry cancels;
    private final EventLog log;

    AgentRunner(Chat chat, Duration limit, CancelRegistry cancels, EventLog log) {
        this.chat = chat;
        this.limit = limit;
        this.cancels = cancels;
        this.log = log;
    }

    @Override
    public void handle(Context context, byte[] payload, Publisher events) {
        AgentChat run;
        try {
            run = AgentChat.decode(payload);
        } catch (JsonException e) {
            log.log(Level.WARN, TARGET, "run_undecodable", "Dropped a run that is not understood: " + e.getMessage());
            return;
        }
        Optional<String> model = run.config().flatMap(AgentRunner::model);
        if (model.isEmpty()) {
            status(events, run, "error: agent config not found");
            return;
        }
        try (Context.Cancellable own = context.withTimeout(limit).cancellable()) {
            cancels.register(run.messageId(), own::cancel);
            message(events, run, "user", run.message(), "-user");
            status(events, run, "processing");
            String answer = chat.ask(own, model.get(), run.message());
            message(events, run, "agent", answer, "");
            status(events, run, "completed");
        } catch (SeamException e) {
            message(events, run, "agent", e.getMessage(), "-error");
            status(events, run, "error");
        } finally {
            cancels.deregister(run.messageId());
        }
    }

    private static Optional<String> model(JsonObject config) {
        try {
            return config.optionalString("model");
        } catch (JsonException e) {
            return Optional.empty();
        }
    }

    private static void message(Publisher events, AgentChat run, String sender, String content, String suffix) {
        publish(events, run, AgentEvent.MESSAGE, sender, content, run.messageId() + suffix, "");
    }

    private static void status(Publisher events, AgentChat run, String status) {
        long now = System.currentTimeMillis();
        publish(
                events,
                run,
                AgentEvent.STATUS,
                "",
                "",
                "",
                Json.write(Json.object("status", status, "timestamp", now)));
    }

    private static void publish(
            Publisher events,
            AgentChat run,
            String type,
            String sender,
            String content,
            String messageId,
            String metadata) {
        events.publish(
                Subjects.agentEvents(run.agentName(), run.userId()),
                new AgentEvent(
                                run.agentName(),
                                run.userId(),
                                type,
                                sender,
                                content,
                                messageId,
                                metadata,
                                System.currentTimeMillis())
                        .encode());
    }
}
