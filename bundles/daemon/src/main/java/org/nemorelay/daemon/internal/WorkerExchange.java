package org.nemorelay.daemon.internal;

import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.nemorelay.broker.WorkerLease;
import org.nemorelay.http.Answers;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.FailureAnswer;
import org.nemorelay.http.HeaderEdit;
import org.nemorelay.http.HeaderRules;
import org.nemorelay.http.Outcome;
import org.nemorelay.protocol.Headers;
import org.nemorelay.protocol.PublicRoute;

/**
 * One request's way through its worker: the head that the worker gets, and what a failure means for the worker
 * (relay-daemon 6.3, 6.5). Holds the lease to the end.
 */
final class WorkerExchange implements ExchangeListener, FailureAnswer {
    private static final int OPERATION_ID_LENGTH = 36;
    private static final String DEADLINE = "drain_deadline_reached";

    private final PublicRoute route;
    private final WorkerLease lease;
    private final ControlPlane plane;
    private final RequestLog log;
    private boolean refusedByWorker;
    private volatile Runnable cutter = () -> {};
    private volatile boolean cut;

    WorkerExchange(PublicRoute route, WorkerLease lease, ControlPlane plane, RequestLog log) {
        this.route = route;
        this.lease = lease;
        this.plane = plane;
        this.log = log;
    }

    /** Leaves of the private headers the one that the worker reads on this route, and adds the worker's token. */
    HeaderEdit requestHead() {
        return headers -> {
            for (var fields = headers.iterator(); fields.hasNext(); ) {
                HttpField field = fields.next();
                if (HeaderRules.isPrivate(field.getName()) && !passes(field)) {
                    fields.remove();
                }
            }
            headers.add(Headers.WORKER_TOKEN, lease.dataToken());
        };
    }

    private boolean passes(HttpField field) {
        return switch (route) {
            case PublicRoute.Provider _ -> field.getName().equalsIgnoreCase(Headers.UPSTREAM_BASE_URL);
            case PublicRoute.Hook _ ->
                field.getName().equalsIgnoreCase(Headers.OPERATION_ID) && isUuid(field.getValue());
        };
    }

    HeaderEdit responseHead() {
        return headers -> {
            if (headers.contains(Headers.WORKER_ROUTE_FAILURE)) {
                headers.remove(Headers.WORKER_ROUTE_FAILURE);
                refusedByWorker = true;
            }
            if (route instanceof PublicRoute.Provider provider && provider.catalog()) {
                PublicSurface.neverStored(headers);
            }
        };
    }

    String workerId() {
        return lease.workerId();
    }

    /** The worker's drain deadline has passed. */
    void cut() {
        cut = true;
        cutter.run();
    }

    @Override
    public void begin(Runnable cutter) {
        this.cutter = cutter;
        plane.forwarding().begin(this);
    }

    /** The failure's own words name the worker's address, which no harness may learn. */
    @Override
    public void write(Outcome.BeforeHead failure, Response response, Callback callback) {
        String message = switch (failure) {
            case Outcome.HeadTimeout _ -> "the worker did not answer in time";
            case Outcome.UploadAborted _ -> "the request's body broke off";
            case Outcome.Unsendable(String reason) -> reason;
            case Outcome.ConnectFailed _, Outcome.NoResponse _, Outcome.BadHead _ ->
                cut
                        ? "the worker was to end and had not answered when its time was over"
                        : "the worker could not be reached";
        };
        Answers.error(response, callback, FailureAnswer.status(failure), message, PublicSurface.catalogHeaders(route));
    }

    @Override
    public void end(Outcome outcome) {
        plane.forwarding().end(this);
        switch (outcome) {
            case Outcome.Completed _ -> {
                if (refusedByWorker) {
                    failed("worker_route_failure");
                }
            }
            case Outcome.ClientCancelled _ -> log.clientLeft(route, "worker");
            case Outcome.UploadAborted _, Outcome.Unsendable _ -> {}
            case Outcome.HeadTimeout _ -> log.workerRequestFailed(lease.workerId(), "response_timeout");
            case Outcome.ConnectFailed _ -> failed("connect_failed");
            case Outcome.NoResponse _ -> failed("transport_error");
            case Outcome.BadHead _ -> failed("invalid_response");
            // The provider's fault as often as the worker's, and a worker that is gone is known by its control
            // connection: to
            // send the next requests past the worker would let them past its policies.
            case Outcome.BodyBroken _ ->
                log.workerRequestFailed(lease.workerId(), cut ? DEADLINE : "response_body_failed");
        }
        if (lease.release()) {
            plane.drainProgress(lease.workerId());
        }
    }

    private void failed(String reason) {
        if (cut) {
            log.workerRequestFailed(lease.workerId(), DEADLINE);
            return;
        }
        log.workerRequestFailed(lease.workerId(), reason);
        plane.workerFailed(lease);
    }

    static boolean isUuid(String text) {
        if (text == null || text.length() != OPERATION_ID_LENGTH) {
            return false;
        }
        for (int i = 0; i < OPERATION_ID_LENGTH; i++) {
            char c = text.charAt(i);
            boolean dash = i == 8 || i == 13 || i == 18 || i == 23;
            if (dash ? c != '-' : Character.digit(c, 16) < 0 || c > 'f') {
                return false;
            }
        }
        return true;
    }
}
