package org.nemorelay.fleet;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.SeamException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * One process's place in a frontend's registry (distributed-seams 1.6): registers, for as long as it takes, then reports
 * that it lives; registers again when the frontend no longer knows it. A frontend that does not answer is waited for.
 */
public final class Membership implements AutoCloseable {
    private static final String TARGET = "nemo_relay.fleet";
    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final FrontendClient frontend;
    private final Map<String, Object> description;
    private final Duration heartbeat;
    private final EventLog log;
    private final Consumer<String> onRegistered;
    private final Consumer<RelayException> onRefused;
    private final String incarnation = UUID.randomUUID().toString();
    private final Context.Cancellable context = Context.background().cancellable();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private volatile Optional<String> current = Optional.empty();
    private boolean warned;

    /**
     * @param description the registration's body, without the token
     * @param onRegistered told of the node's id after each registration, on the member's own thread
     * @param onRefused told when the frontend refuses this registration for good; the member ends then
     */
    public Membership(
            FrontendClient frontend,
            Map<String, Object> description,
            Duration heartbeat,
            EventLog log,
            Consumer<String> onRegistered,
            Consumer<RelayException> onRefused) {
        this.frontend = frontend;
        this.description = new LinkedHashMap<>(description);
        this.description.put("incarnation", incarnation);
        this.heartbeat = heartbeat;
        this.log = log;
        this.onRegistered = onRegistered;
        this.onRefused = onRefused;
        this.thread = Thread.ofPlatform().daemon().name("membership").start(this::run);
    }

    private void run() {
        try {
            while (!context.cancelled()) {
                String id = register();
                current = Optional.of(id);
                onRegistered.accept(id);
                while (beat(id)) {
                    pause(heartbeat);
                }
                log.log(
                        Level.WARN,
                        TARGET,
                        "node_forgotten",
                        "The frontend no longer knows this node; registering again");
            }
        } catch (RelayException e) {
            onRefused.accept(e);
        } catch (Ended e) {
            // Closed.
        } catch (RuntimeException | Error e) {
            // Without its member a process would be up and of no fleet.
            onRefused.accept(
                    new RelayException(FailureKind.INTERNAL, "the membership failed: " + Reasons.defect(e), e));
        }
    }

    /** Ends the member's thread from within its waits. */
    private static final class Ended extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private String register() {
        Duration pause = FIRST_PAUSE;
        while (true) {
            FrontendClient.Answer answer;
            try {
                answer = frontend.post(context, "/api/node/register", description, ANSWER);
                if (answer.status() == 201) {
                    String id = id(answer.body());
                    warned = false;
                    log.log(Level.INFO, TARGET, "node_registered", "Registered at " + frontend, "node_id", id);
                    return id;
                }
                if (answer.status() >= 400 && answer.status() < 500) {
                    throw new RelayException(
                            FailureKind.CONFIGURATION,
                            "the frontend at " + frontend + " refuses this node: " + answer.error());
                }
                warnOnce("it answered with status " + answer.status());
            } catch (SeamException | JsonException e) {
                warnOnce(e.getMessage());
            }
            pause(pause);
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
        }
    }

    /** It becomes a path's part and a subject's. */
    private static String id(JsonObject body) {
        String id = body.string("id");
        if (!id.matches("[A-Za-z0-9_-]+")) {
            throw new JsonException("id must be letters, digits, - and _");
        }
        return id;
    }

    private void warnOnce(String why) {
        if (!warned && !context.cancelled()) {
            warned = true;
            log.log(Level.WARN, TARGET, "frontend_not_reached", "Not registered yet, trying on: " + why);
        }
    }

    /** False when the frontend does not know the node; no answer is no evidence of anything. */
    private boolean beat(String id) {
        try {
            FrontendClient.Answer answer = frontend.post(
                    context, "/api/node/" + id + "/heartbeat", Map.of("incarnation", incarnation), ANSWER);
            return answer.status() != 404;
        } catch (SeamException e) {
            log.log(Level.DEBUG, TARGET, "heartbeat_lost", "No answer to a heartbeat: " + e.getMessage());
            return true;
        }
    }

    private void pause(Duration pause) {
        try {
            if (closing.await(pause.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new Ended();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Ended();
        }
    }

    /** Tells the frontend that this node leaves, as far as it answers at once, and ends. */
    @Override
    public void close() {
        closing.countDown();
        context.cancel();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (current.isPresent()) {
            try {
                frontend.post(
                        Context.background().withTimeout(Duration.ofSeconds(2)),
                        "/api/node/" + current.get() + "/deregister",
                        Map.of(),
                        Duration.ofSeconds(2));
            } catch (SeamException e) {
                log.log(Level.DEBUG, TARGET, "deregister_lost", "The frontend was not told: " + e.getMessage());
            }
        }
    }
}
