package org.nemorelay.worker.internal;

import java.util.function.LongSupplier;
import org.nemorelay.http.Outcome;
import org.nemorelay.protocol.PublicRoute;
import org.nemorelay.telemetry.EventLog;

/** {@code upstream_request_failed}, at most once in 10 s (relay-daemon 10). Safe for any thread. */
final class UpstreamFailureLog {
    private static final long PAUSE_NANOS = 10_000_000_000L;

    private final EventLog log;
    private final String workerId;
    private final LongSupplier nanoTime;

    // Guarded by this.
    private boolean logged;
    private long lastNanos;
    private long suppressed;

    UpstreamFailureLog(EventLog log, String workerId, LongSupplier nanoTime) {
        this.log = log;
        this.workerId = workerId;
        this.nanoTime = nanoTime;
    }

    void failed(PublicRoute.Family family, Outcome.Failed failure) {
        long before;
        synchronized (this) {
            long now = nanoTime.getAsLong();
            if (logged && now - lastNanos < PAUSE_NANOS) {
                suppressed++;
                return;
            }
            before = suppressed;
            suppressed = 0;
            logged = true;
            lastNanos = now;
        }
        log.log(
                EventLog.Level.WARN,
                Worker.TARGET,
                "upstream_request_failed",
                "Worker provider request failed: " + failure.reason(),
                "provider",
                family.word(),
                "reason",
                reason(failure),
                "route_mode",
                "worker",
                "suppressed_since_last_emit",
                before,
                "worker_id",
                workerId);
    }

    private static String reason(Outcome.Failed failure) {
        return switch (failure) {
            case Outcome.ConnectFailed _ -> "transport_error";
            case Outcome.NoResponse _ -> "transport_error";
            case Outcome.BadHead _ -> "invalid_response";
            case Outcome.HeadTimeout _ -> "response_timeout";
            case Outcome.BodyBroken _ -> "body_error";
            case Outcome.UploadAborted _ -> "upload_aborted";
            case Outcome.Unsendable _ -> "request_unsendable";
        };
    }
}
