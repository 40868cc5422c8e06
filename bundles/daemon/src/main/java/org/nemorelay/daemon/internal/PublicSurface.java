package org.nemorelay.daemon.internal;

import java.util.Optional;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.nemorelay.broker.Broker;
import org.nemorelay.broker.Resolution;
import org.nemorelay.broker.WorkerLease;
import org.nemorelay.http.Answers;
import org.nemorelay.http.Destination;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.FailureAnswer;
import org.nemorelay.http.Forwarder;
import org.nemorelay.http.HeaderEdit;
import org.nemorelay.http.HeaderRules;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.Upstreams;
import org.nemorelay.http.WireProtocol;
import org.nemorelay.protocol.Headers;
import org.nemorelay.protocol.ListenerProof;
import org.nemorelay.protocol.PublicRoute;
import org.nemorelay.protocol.PublicRoutes;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.protocol.control.Role;

/**
 * The HTTP surface of the daemon (relay-daemon 2, 6): every request is decided from its head alone, on the thread that
 * read it, and nothing here blocks.
 */
final class PublicSurface extends Handler.Abstract.NonBlocking {
    private static final String HEALTH = "/healthz";
    private static final String WORKERS = "/_nemo_relay/v1/workers";
    private static final String WORKERS_STATUS = WORKERS + "/status";
    private static final String STATUS_SUFFIX = "/status";

    private static final HttpField NO_STORE = new HttpField(HttpHeader.CACHE_CONTROL, "no-store");
    private static final HttpField RETRY_AFTER_1 = new HttpField(HttpHeader.RETRY_AFTER, "1");
    private static final HttpField ALLOW_READING = new HttpField(HttpHeader.ALLOW, "GET,HEAD");
    private static final HttpField[] NO_HEADERS = {};
    private static final HttpField[] CATALOG_HEADERS = {NO_STORE};

    private final Broker broker;
    private final ControlPlane plane;
    private final ControlUpgrade upgrade;
    private final ProofDesk proofs;
    private final HookTunnel tunnel;
    private final Forwarder forwarder;
    private final Upstreams upstreams;
    private final StatusPages pages;
    private final RequestLog log;
    private final boolean requireWorker;
    private final long headTimeoutMs;

    PublicSurface(
            Broker broker,
            ControlPlane plane,
            ControlUpgrade upgrade,
            ProofDesk proofs,
            HookTunnel tunnel,
            Forwarder forwarder,
            Upstreams upstreams,
            StatusPages pages,
            RequestLog log,
            boolean requireWorker,
            long headTimeoutMs) {
        this.broker = broker;
        this.plane = plane;
        this.upgrade = upgrade;
        this.proofs = proofs;
        this.tunnel = tunnel;
        this.forwarder = forwarder;
        this.upstreams = upstreams;
        this.pages = pages;
        this.log = log;
        this.requireWorker = requireWorker;
        this.headTimeoutMs = headTimeoutMs;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        String path = request.getHttpURI().getPath();
        if (path == null || HttpMethod.CONNECT.is(request.getMethod())) {
            Answers.empty(response, callback, 404);
            return true;
        }
        Optional<PublicRoute> route = PublicRoutes.find(path);
        if (route.isPresent()) {
            route(request, response, callback, route.get());
        } else {
            system(request, response, callback, path);
        }
        return true;
    }

    // ---- paths of the daemon itself

    private void system(Request request, Response response, Callback callback, String path) {
        boolean single = path.startsWith(WORKERS + "/")
                && path.endsWith(STATUS_SUFFIX)
                && path.length() > WORKERS.length() + 1 + STATUS_SUFFIX.length()
                && path.indexOf('/', WORKERS.length() + 1) == path.length() - STATUS_SUFFIX.length();
        boolean known = single
                || switch (path) {
                    case HEALTH,
                            WORKERS,
                            WORKERS_STATUS,
                            ControlPaths.MCP,
                            ControlPaths.WORKER,
                            ListenerProof.PATH,
                            HookTunnel.PATH -> true;
                    default -> false;
                };
        if (!known) {
            Answers.empty(response, callback, 404);
            return;
        }
        boolean get = HttpMethod.GET.is(request.getMethod());
        if (!get && !HttpMethod.HEAD.is(request.getMethod())) {
            Answers.empty(response, callback, 405, ALLOW_READING);
            return;
        }
        switch (path) {
            case HEALTH -> page(response, callback, pages.health());
            case WORKERS -> page(response, callback, pages.ids(broker.workers()));
            case WORKERS_STATUS -> page(response, callback, pages.all(broker.workers()));
            case ControlPaths.MCP -> upgrade.handle(request, response, callback, Role.MCP, plane);
            case ControlPaths.WORKER -> upgrade.handle(request, response, callback, Role.WORKER, plane);
            case ListenerProof.PATH -> proofs.handle(request, response, callback);
            case HookTunnel.PATH -> tunnel.handle(request, response, callback);
            default -> {
                String id = path.substring(WORKERS.length() + 1, path.length() - STATUS_SUFFIX.length());
                pages.one(broker.workers(), id)
                        .ifPresentOrElse(
                                body -> page(response, callback, body),
                                () -> Answers.error(response, callback, 404, "worker not found", NO_STORE));
            }
        }
    }

    private static void page(Response response, Callback callback, String body) {
        Answers.json(response, callback, 200, body, NO_STORE);
    }

    // ---- harness traffic

    private void route(Request request, Response response, Callback callback, PublicRoute route) {
        HttpFields headers = request.getHeaders();
        ClientCredential credential = ClientCredential.of(headers);
        if (credential instanceof ClientCredential.Invalid invalid) {
            Answers.error(response, callback, 401, invalid.message(), catalogHeaders(route));
            return;
        }
        if (requireWorker && credential instanceof ClientCredential.Absent) {
            Answers.error(response, callback, 401, "a route credential is required", catalogHeaders(route));
            return;
        }
        if (route instanceof PublicRoute.Provider provider
                && provider.webSocketProbe()
                && HttpMethod.GET.is(request.getMethod())
                && headers.contains(HttpHeader.UPGRADE, "websocket")) {
            Answers.empty(response, callback, 426);
            return;
        }
        if (!route.method().equals(request.getMethod())) {
            Answers.empty(response, callback, 405);
            return;
        }
        if (headers.contains(HttpHeader.UPGRADE)) {
            Answers.error(
                    response,
                    callback,
                    400,
                    "CONNECT and HTTP Upgrade are not supported by the daemon data plane",
                    catalogHeaders(route));
            return;
        }
        if (!HeaderRules.connectionReadable(headers)) {
            Answers.error(response, callback, 400, "invalid Connection header value", catalogHeaders(route));
            return;
        }
        switch (credential) {
            case ClientCredential.Present present ->
                resolved(
                        request,
                        response,
                        callback,
                        route,
                        broker.resolve(present.token().digest()));
            case ClientCredential.Absent _ -> {
                log.anonymousPassThrough(route, "missing_credential");
                passThrough(request, response, callback, route, false, broker.passThrough());
            }
            case ClientCredential.Invalid _ -> throw new IllegalStateException("answered above");
        }
    }

    private void resolved(
            Request request, Response response, Callback callback, PublicRoute route, Resolution resolution) {
        switch (resolution) {
            case WorkerLease lease ->
                plane.route(lease)
                        .ifPresentOrElse(worker -> toWorker(request, response, callback, route, lease, worker), () -> {
                            lease.release();
                            notReady(response, callback, route);
                        });
            case Resolution.PassThrough passThrough -> {
                boolean global = passThrough.reason() == Resolution.Reason.GLOBAL_PASS_THROUGH;
                if (passThrough.bound()) {
                    log.boundPassThrough(route);
                } else {
                    log.anonymousPassThrough(route, "unbound_credential");
                }
                passThrough(request, response, callback, route, passThrough.bound(), passThrough.bound() || global);
            }
            case Resolution.Unavailable unavailable -> {
                if (unavailable.reason() == Resolution.Reason.UNBOUND) {
                    Answers.error(response, callback, 401, "the route credential is not bound", catalogHeaders(route));
                } else {
                    notReady(response, callback, route);
                }
            }
        }
    }

    private void toWorker(
            Request request,
            Response response,
            Callback callback,
            PublicRoute route,
            WorkerLease lease,
            WorkerRoute worker) {
        WorkerExchange exchange = new WorkerExchange(route, lease, plane, log);
        Destination destination = new Destination(
                worker.origin(),
                worker.protocol(),
                request.getHttpURI().getPathQuery(),
                exchange.requestHead(),
                exchange.responseHead(),
                headTimeoutMs);
        forwarder.forward(request, response, callback, destination, exchange, exchange);
    }

    private void passThrough(
            Request request, Response response, Callback callback, PublicRoute route, boolean bound, boolean lend) {
        switch (route) {
            case PublicRoute.Hook hook ->
                // Read to its end first: a client that is still writing would take the answer for a broken connection.
                Content.Source.consumeAll(
                        request,
                        Callback.from(
                                () -> Answers.json(
                                        response, callback, 200, hook.agent().allowAnswer()),
                                broken -> Answers.error(response, callback, 400, "the request's body broke off")));
            case PublicRoute.Provider provider -> toProvider(request, response, callback, provider, bound, lend);
        }
    }

    private void toProvider(
            Request request,
            Response response,
            Callback callback,
            PublicRoute.Provider route,
            boolean bound,
            boolean lend) {
        HttpFields headers = request.getHeaders();
        String pathQuery = request.getHttpURI().getPathQuery();
        Upstreams.Target target;
        if (headers.contains(Headers.UPSTREAM_BASE_URL)) {
            if (!bound) {
                notReady(response, callback, route);
                return;
            }
            String named = headers.get(Headers.UPSTREAM_BASE_URL);
            try {
                target = upstreams.named(named == null ? "" : named, pathQuery, headers);
            } catch (RelayException e) {
                Answers.gatewayError(response, callback, 400, e.getMessage(), catalogHeaders(route));
                return;
            }
        } else {
            target = upstreams.resolve(route, pathQuery, headers, lend);
        }
        HeaderEdit credentials = target.headers();
        Destination destination = new Destination(
                target.origin(),
                WireProtocol.HTTP_1_1,
                target.target(),
                edit -> {
                    HeaderRules.removePrivate(edit);
                    credentials.apply(edit);
                },
                route.catalog() ? PublicSurface::neverStored : HeaderEdit.NONE,
                headTimeoutMs);
        forwarder.forward(
                request, response, callback, destination, new ProviderExchange(route), providerFailure(route));
    }

    /** An answer that its provider broke off after the head has no {@link FailureAnswer}; a client that left is no failure. */
    private final class ProviderExchange implements ExchangeListener {
        private final PublicRoute route;

        ProviderExchange(PublicRoute route) {
            this.route = route;
        }

        @Override
        public void begin(Runnable cut) {
            plane.forwarding().begin(this);
        }

        @Override
        public void end(Outcome outcome) {
            plane.forwarding().end(this);
            if (outcome instanceof Outcome.BodyBroken) {
                log.upstreamFailed(route, "body_error");
            } else if (outcome instanceof Outcome.ClientCancelled) {
                log.clientLeft(route, "pass_through");
            }
        }
    }

    private FailureAnswer providerFailure(PublicRoute.Provider route) {
        return (failure, response, callback) -> {
            if (!(failure instanceof Outcome.UploadAborted || failure instanceof Outcome.Unsendable)) {
                log.upstreamFailed(
                        route, failure instanceof Outcome.HeadTimeout ? "response_timeout" : "transport_error");
            }
            Answers.error(response, callback, FailureAnswer.status(failure), failure.reason(), catalogHeaders(route));
        };
    }

    private static void notReady(Response response, Callback callback, PublicRoute route) {
        if (route instanceof PublicRoute.Provider provider && provider.catalog()) {
            Answers.error(response, callback, 503, "route is not ready", NO_STORE, RETRY_AFTER_1);
        } else {
            Answers.error(response, callback, 503, "route is not ready", RETRY_AFTER_1);
        }
    }

    /** Lists of models carry exactly one {@code Cache-Control}, last. */
    static void neverStored(HttpFields.Mutable headers) {
        headers.remove(HttpHeader.CACHE_CONTROL);
        headers.add(NO_STORE);
    }

    static HttpField[] catalogHeaders(PublicRoute route) {
        return route instanceof PublicRoute.Provider provider && provider.catalog() ? CATALOG_HEADERS : NO_HEADERS;
    }
}
