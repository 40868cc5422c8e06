package org.nemorelay.daemon.internal;

import org.nemorelay.protocol.PublicRoute;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** Log events of requests (relay-daemon 10); what strangers can cause is throttled. Safe for any thread. */
final class RequestLog {
    private final EventLog log;
    private final Clock clock;
    private final Throttle throttle = new Throttle();

    RequestLog(EventLog log, Clock clock) {
        this.log = log;
        this.clock = clock;
    }

    /** A request without a bound token goes to its provider. */
    void anonymousPassThrough(PublicRoute route, String reason) {
        if (log.enabled(Level.INFO)) {
            throttle.pass("pass_through " + reason, clock.monotonicMs())
                    .ifPresent(suppressed -> info(
                            "public_request_pass_through",
                            "Public request has no bound route credential; using pass-through",
                            "reason",
                            reason,
                            "route",
                            word(route),
                            "route_mode",
                            "pass_through",
                            "suppressed_since_last_emit",
                            suppressed));
        }
    }

    /** A request of a bound token finds no worker. */
    void boundPassThrough(PublicRoute route) {
        info(
                "public_request_pass_through",
                "Bound public request is bypassing worker processing",
                "reason",
                "worker_unavailable",
                "route",
                word(route),
                "route_mode",
                "pass_through");
    }

    /** A client that did not wait for the end of its answer; the provider was told at once. */
    void clientLeft(PublicRoute route, String routeMode) {
        info(
                "public_request_cancelled",
                "The client left before the end of its answer",
                "route",
                word(route),
                "route_mode",
                routeMode);
    }

    /** Users' sessions wait for the end of the window. */
    void upgradeRefused(String address, Admission.Verdict verdict, int limit) {
        throttle.pass("upgrade", clock.monotonicMs())
                .ifPresent(suppressed -> log.log(
                        Level.ERROR,
                        TransitionLog.TARGET,
                        "control_upgrade_refused",
                        verdict == Admission.Verdict.ONE_TOO_MANY
                                ? "An address begins more control connections in 15 s than [daemon] upgrades_per_address"
                                        + " allows; sessions that are refused try again for 30 s"
                                : "More addresses begin control connections in 15 s than are kept count of; sessions that are"
                                        + " refused try again for 30 s",
                        "address",
                        address,
                        "limit",
                        limit,
                        "suppressed_since_last_emit",
                        suppressed));
    }

    void upstreamFailed(PublicRoute route, String reason) {
        throttle.pass("upstream " + word(route) + reason, clock.monotonicMs())
                .ifPresent(suppressed -> log.log(
                        Level.WARN,
                        TransitionLog.TARGET,
                        "upstream_request_failed",
                        "Provider request failed",
                        "provider",
                        word(route),
                        "reason",
                        reason,
                        "route_mode",
                        "pass_through",
                        "suppressed_since_last_emit",
                        suppressed));
    }

    void workerRequestFailed(String workerId, String reason) {
        log.log(
                Level.WARN,
                TransitionLog.TARGET,
                "worker_request_failed",
                "Request to the worker failed",
                "worker_id",
                workerId,
                "reason",
                reason,
                "route_mode",
                "worker");
    }

    private void info(String event, String message, Object... fields) {
        log.log(Level.INFO, TransitionLog.TARGET, event, message, fields);
    }

    private static String word(PublicRoute route) {
        return switch (route) {
            case PublicRoute.Provider provider -> provider.family().word();
            case PublicRoute.Hook _ -> "hook";
        };
    }
}
