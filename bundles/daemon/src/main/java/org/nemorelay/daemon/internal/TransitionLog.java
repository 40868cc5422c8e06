package org.nemorelay.daemon.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.nemorelay.broker.Transition;
import org.nemorelay.protocol.Directive;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** Transitions of the broker as log events (relay-daemon 10). */
final class TransitionLog {
    static final String TARGET = "nemo_relay.daemon";

    private final EventLog log;
    private final Clock clock;

    TransitionLog(EventLog log, Clock clock) {
        this.log = log;
        this.clock = clock;
    }

    void write(Transition transition) {
        switch (transition) {
            case Transition.McpAdded added ->
                info(
                        "mcp_added",
                        "MCP session added to daemon route",
                        "fingerprint",
                        added.fingerprint(),
                        "mcp_session_id",
                        added.sessionId(),
                        "route_action",
                        word(added.directive()));
            case Transition.McpRemoved removed ->
                info(
                        "mcp_removed",
                        "MCP session removed from daemon route",
                        "fingerprint",
                        removed.fingerprint(),
                        "mcp_session_id",
                        removed.sessionId(),
                        "reason",
                        word(removed.cause()),
                        "route_action",
                        word(removed.action()));
            case Transition.WorkerStaged staged ->
                info(
                        "worker_staged",
                        "Worker registered and is awaiting readiness",
                        "fingerprint",
                        staged.fingerprint(),
                        "worker_id",
                        staged.workerId(),
                        "endpoint",
                        staged.endpoint(),
                        "publication",
                        staged.publication().word());
            case Transition.WorkerPublished published -> {
                List<Object> fields = new ArrayList<>();
                published.startupElapsedMs().ifPresent(millis -> fields.addAll(List.of("startup_elapsed_ms", millis)));
                fields.addAll(List.of(
                        "fingerprint",
                        published.fingerprint(),
                        "worker_id",
                        published.workerId(),
                        "endpoint",
                        published.endpoint(),
                        "publication",
                        published.publication().word(),
                        "route_mode",
                        "worker"));
                info("worker_added", "Worker added to daemon route", fields.toArray());
            }
            case Transition.StartupPending pending ->
                info(
                        "worker_startup_pending",
                        "Worker startup is still in progress",
                        "fingerprint",
                        pending.fingerprint(),
                        "elapsed_ms",
                        pending.elapsedMs());
            case Transition.ActivationFailed failed ->
                log.log(
                        Level.ERROR,
                        TARGET,
                        "worker_activation_failed",
                        "Worker activation failed; until one succeeds the route has no worker",
                        "fingerprint",
                        failed.fingerprint(),
                        "failure_reason",
                        failed.reason(),
                        "retry_after_ms",
                        failed.retryAfterMs(),
                        "route_mode",
                        "pass_through");
            case Transition.ActivationCancelled cancelled ->
                info(
                        "worker_activation_cancelled",
                        "Worker activation cancelled",
                        "fingerprint",
                        cancelled.fingerprint());
            case Transition.CommunicationFailed failed ->
                warn(
                        "worker_communication_failed",
                        "Worker communication failed; waiting for recovery",
                        "fingerprint",
                        failed.fingerprint(),
                        "worker_id",
                        failed.workerId(),
                        "reason",
                        "transport_error");
            case Transition.WorkerLost lost ->
                log.log(
                        Level.ERROR,
                        TARGET,
                        "worker_failed",
                        "Worker failed after its control disconnect grace period elapsed",
                        "fingerprint",
                        lost.fingerprint(),
                        "worker_id",
                        lost.workerId(),
                        "route_action",
                        "nominate_relaunch");
            case Transition.DrainBegan drain ->
                info(
                        "worker_drain_started",
                        switch (drain.cause()) {
                            case LAST_SESSION_LEFT -> "Worker drain started after its last MCP session left";
                            case WORKER_LEAVES -> "Worker drain started because its process was told to end";
                        },
                        "fingerprint",
                        drain.fingerprint(),
                        "worker_id",
                        drain.workerId(),
                        "in_flight",
                        drain.inFlight(),
                        "deadline_unix_ms",
                        clock.unixMs() + drain.deadlineMs() - clock.monotonicMs(),
                        "reason",
                        word(drain.cause()));
            case Transition.WorkerRemoved removed ->
                info(
                        "worker_removed",
                        "Worker removed from daemon route",
                        "fingerprint",
                        removed.fingerprint(),
                        "worker_id",
                        removed.workerId(),
                        "reason",
                        word(removed.reason()));
            case Transition.RecoveryExpired expired ->
                warn(
                        "worker_recovery_expired",
                        "Worker of an earlier daemon process did not return",
                        "fingerprint",
                        expired.fingerprint(),
                        "generation_revoked",
                        true);
            case Transition.LaunchNominated nominated ->
                info(
                        "worker_relaunch_requested",
                        "A live MCP session was asked to relaunch the worker",
                        "attempt",
                        nominated.attempt(),
                        "fingerprint",
                        nominated.fingerprint(),
                        "mcp_session_id",
                        nominated.sessionId());
            case Transition.TokenReleased released ->
                info(
                        "route_credential_rotated",
                        "The least recently registered idle client token was released",
                        "fingerprint",
                        released.fingerprint());
            case Transition.RouteEvicted evicted ->
                info("route_evicted", "An unused route made room for another", "fingerprint", evicted.fingerprint());
            case Transition.RouteChanged changed ->
                log.log(
                        Level.DEBUG,
                        TARGET,
                        "route_changed",
                        "Route changed its state",
                        "fingerprint",
                        changed.fingerprint(),
                        "from",
                        changed.from().word(),
                        "to",
                        changed.to().word());
            case Transition.DirectiveChanged _, Transition.LeaveGranted _ -> {}
        }
    }

    private static String word(Directive directive) {
        return switch (directive) {
            case Directive.LaunchWorker _ -> "launch_worker";
            case Directive.WaitForWorker _ -> "wait_for_worker";
            case Directive.ReuseWorker _ -> "reuse_worker";
            case Directive.UsePassThrough _ -> "use_pass_through";
        };
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private void info(String event, String message, Object... fields) {
        log.log(Level.INFO, TARGET, event, message, fields);
    }

    private void warn(String event, String message, Object... fields) {
        log.log(Level.WARN, TARGET, event, message, fields);
    }
}
