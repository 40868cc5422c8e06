package org.nemorelay.worker.internal;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Promise;
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
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pipeline.Stages;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.Headers;
import org.nemorelay.protocol.HookAgent;
import org.nemorelay.protocol.PublicRoute;
import org.nemorelay.protocol.PublicRoutes;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.worker.internal.hook.HookPayload;
import org.nemorelay.worker.internal.hook.ToolGate;
import org.nemorelay.worker.internal.plugins.PluginExchange;

/**
 * The worker's HTTP surface: the daemon's probe, hooks and provider requests, each with the worker's token (relay-daemon
 * 7). Runs on I/O threads and never blocks.
 */
final class DataPlane extends Handler.Abstract.NonBlocking {
    /** Larger hooks are read as JSON elsewhere than on the I/O thread. */
    private static final int INLINE_JSON = 64 * 1024;

    private static final HttpField NO_STORE = new HttpField(HttpHeader.CACHE_CONTROL, "no-store");
    private static final HttpField ALLOW_GET = new HttpField(HttpHeader.ALLOW, "GET,HEAD");
    private static final HttpField PASS_THROUGH = new HttpField(Headers.WORKER_ROUTE_FAILURE, "pass-through");
    private static final HeaderEdit UNCACHED = headers -> headers.put(NO_STORE);
    /** Every failure of a provider is a 502 here; the daemon has a deadline of its own. */
    private static final FailureAnswer BAD_GATEWAY = (failure, response, callback) ->
            Answers.gatewayError(response, callback, status(failure), failure.reason());

    private static final FailureAnswer BAD_GATEWAY_UNCACHED = (failure, response, callback) ->
            Answers.gatewayError(response, callback, status(failure), failure.reason(), NO_STORE);

    private static final String STOPPING = "the worker is stopping";

    private final Admission admission;
    private final Forwarder forwarder;
    private final Upstreams upstreams;
    private final Supplier<Snapshot> plugins;
    private final Observation observation;
    private final UpstreamFailureLog failures;
    private final long maxHookBytes;
    private final long maxHeldBytes;
    private final long headTimeoutMs;

    DataPlane(
            Admission admission,
            Forwarder forwarder,
            Upstreams upstreams,
            Supplier<Snapshot> plugins,
            Observation observation,
            UpstreamFailureLog failures,
            long maxHookBytes,
            long maxHeldBytes,
            long headTimeoutMs) {
        this.admission = admission;
        Forwarder unlessOverdue = (request, response, callback, destination, listener, failure) -> {
            if (admission.maySend()) {
                forwarder.forward(request, response, callback, destination, listener, failure);
            } else {
                listener.end(new Outcome.Unsendable(STOPPING));
                Answers.error(response, callback, 503, STOPPING);
            }
        };
        this.forwarder = (request, response, callback, destination, listener, failure) -> {
            if (admission.standstill().doubted()) {
                admission
                        .standstill()
                        .await(() -> request.getComponents()
                                .getExecutor()
                                .execute(() -> unlessOverdue.forward(
                                        request, response, callback, destination, listener, failure)));
            } else {
                unlessOverdue.forward(request, response, callback, destination, listener, failure);
            }
        };
        this.upstreams = upstreams;
        this.plugins = plugins;
        this.observation = observation;
        this.failures = failures;
        this.maxHookBytes = maxHookBytes;
        this.maxHeldBytes = maxHeldBytes;
        this.headTimeoutMs = headTimeoutMs;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        if (!admission.authentic(request.getHeaders())) {
            Answers.error(response, callback, 401, "invalid daemon worker credential");
            return true;
        }
        String path = request.getHttpURI().getPath();
        if (path.equals(ControlPaths.WORKER_READY)) {
            probe(request, response, callback);
            return true;
        }
        switch (admission.enter()) {
            case ENTER -> admitted(path, request, response, new Leaving(callback, admission));
            case PASS_BY -> Answers.error(response, callback, 503, "the worker takes no requests now", PASS_THROUGH);
            case STOPPING -> Answers.error(response, callback, 503, STOPPING);
        }
        return true;
    }

    private void probe(Request request, Response response, Callback callback) {
        if (!request.getMethod().equals("GET") && !request.getMethod().equals("HEAD")) {
            Answers.empty(response, callback, 405, ALLOW_GET);
        } else if (admission.probe(request.getHeaders())) {
            response.setStatus(204);
            callback.succeeded();
        } else {
            Answers.error(response, callback, 503, "the worker is not ready");
        }
    }

    private void admitted(String path, Request request, Response response, Callback callback) {
        Optional<PublicRoute> route = PublicRoutes.find(path);
        if (route.isEmpty()) {
            Answers.empty(response, callback, 404);
        } else if (!route.get().method().equals(request.getMethod())) {
            Answers.empty(response, callback, 405);
        } else {
            switch (route.get()) {
                case PublicRoute.Hook hook -> hook(hook.agent(), request, response, callback);
                case PublicRoute.Provider provider -> provider(provider, path, request, response, callback);
            }
        }
    }

    // ---- providers

    private void provider(
            PublicRoute.Provider route, String path, Request request, Response response, Callback callback) {
        HttpFields headers = request.getHeaders();
        String pathQuery = request.getHttpURI().getPathQuery();
        Upstreams.Target target;
        try {
            Optional<String> named = Optional.ofNullable(headers.get(Headers.UPSTREAM_BASE_URL));
            target = named.isPresent()
                    ? upstreams.named(named.get(), pathQuery, headers)
                    : upstreams.resolve(route, pathQuery, headers, true);
        } catch (RelayException e) {
            Answers.gatewayError(response, callback, e.kind().status(), e.getMessage());
            return;
        }
        Destination destination = new Destination(
                target.origin(),
                WireProtocol.HTTP_1_1,
                target.target(),
                fields -> {
                    HeaderRules.removePrivate(fields);
                    target.headers().apply(fields);
                },
                route.catalog() ? UNCACHED : HeaderEdit.NONE,
                headTimeoutMs);
        Stages stages = plugins.get().stages();
        Optional<ModelApi> api = stages.act() ? ModelApi.ofPath(path) : Optional.empty();
        if (api.isPresent()) {
            new PluginExchange(
                            forwarder,
                            stages,
                            maxHeldBytes,
                            recorded(path),
                            api.get(),
                            request,
                            response,
                            callback,
                            destination,
                            new ProviderExchange(route.family(), ExchangeListener.NONE, failures),
                            BAD_GATEWAY)
                    .start();
            return;
        }
        ExchangeListener listener = new ProviderExchange(
                route.family(), observation.exchange(path, () -> headers, Optional.empty()), failures);
        forwarder.forward(
                request,
                response,
                callback,
                destination,
                listener,
                route.catalog() ? BAD_GATEWAY_UNCACHED : BAD_GATEWAY);
    }

    private static int status(Outcome.BeforeHead failure) {
        return failure instanceof Outcome.Unsendable ? FailureAnswer.status(failure) : 502;
    }

    private PluginExchange.Record recorded(String path) {
        return new PluginExchange.Record() {
            @Override
            public ExchangeListener sent(Supplier<HttpFields> headers, Optional<byte[]> body) {
                return observation.exchange(path, headers, body);
            }

            @Override
            public void refused(HttpFields headers, Optional<byte[]> body, List<Clearance.Check> checks) {
                observation.refused(path, headers, body, checks);
            }
        };
    }

    // ---- hooks

    /** One hook, with the plugins of the moment in which it came. */
    private void hook(HookAgent agent, Request request, Response response, Callback callback) {
        Snapshot snapshot = plugins.get();
        if (request.getLength() > maxHookBytes) {
            tooLarge(agent, snapshot, response, callback);
            return;
        }
        int limit = (int) Math.min(maxHookBytes, Integer.MAX_VALUE - 8);
        Content.Source.asByteArrayAsync(
                request,
                limit,
                Promise.Invocable.from(
                        InvocationType.NON_BLOCKING,
                        body -> read(agent, snapshot, body, request, response, callback),
                        failure -> {
                            if (failure instanceof IllegalStateException) {
                                tooLarge(agent, snapshot, response, callback);
                            } else {
                                Answers.error(response, callback, 400, "the request's body broke off");
                            }
                        }));
    }

    private void read(
            HookAgent agent, Snapshot snapshot, byte[] body, Request request, Response response, Callback callback) {
        if (body.length <= INLINE_JSON) {
            answer(agent, snapshot, body, request, response, callback);
        } else {
            request.getComponents()
                    .getExecutor()
                    .execute(() -> answer(agent, snapshot, body, request, response, callback));
        }
    }

    private void tooLarge(HookAgent agent, Snapshot snapshot, Response response, Callback callback) {
        unreadable(
                agent,
                snapshot,
                413,
                "payload too large: hook payload exceeds the " + maxHookBytes
                        + "-byte limit of the relay's worker, [gateway] max_hook_payload_bytes",
                "exceeds the " + maxHookBytes + "-byte limit of the relay's worker, [gateway] max_hook_payload_bytes",
                response,
                callback);
    }

    /** Where a policy is in force a hook that cannot be read is denied; else what it means is its own policy's. */
    private static void unreadable(
            HookAgent agent,
            Snapshot snapshot,
            int status,
            String message,
            String why,
            Response response,
            Callback callback) {
        if (snapshot.policies().isEmpty()) {
            Answers.gatewayError(response, callback, status, message);
        } else {
            ToolGate.Answer denied = ToolGate.answer(new HookPayload(agent, Map.of()), snapshot.unreadable(why));
            Answers.json(response, callback, denied.status(), denied.body());
        }
    }

    private void answer(
            HookAgent agent, Snapshot snapshot, byte[] body, Request request, Response response, Callback callback) {
        HookPayload hook;
        try {
            hook = new HookPayload(agent, Json.parse(body));
        } catch (JsonException e) {
            String message = "invalid hook payload: " + e.getMessage();
            unreadable(agent, snapshot, 400, message, "cannot be read: " + e.getMessage(), response, callback);
            return;
        } catch (OutOfMemoryError e) {
            String message = "a hook of " + body.length + " bytes does not fit into the worker's memory";
            unreadable(agent, snapshot, 503, message, "does not fit into the worker's memory", response, callback);
            return;
        }
        ToolGate.Question question =
                snapshot.policies().isEmpty() ? new ToolGate.Question.None() : ToolGate.questionOf(hook);
        switch (question) {
            case ToolGate.Question.None() -> send(hook, body.length, Ruling.NONE, request, response, callback);
            case ToolGate.Question.Unreadable(String why) ->
                send(hook, body.length, snapshot.unreadable(why), request, response, callback);
            case ToolGate.Question.Call(ToolCall call) ->
                // Not on the thread that the ruling comes from: it may be a plugin's, and interrupted.
                snapshot.rule(call)
                        .exceptionally(failure -> snapshot.unreadable("found the relay itself failing"))
                        .thenAcceptAsync(
                                ruling -> send(
                                        hook, body.length, ToolGate.settled(hook, ruling), request, response, callback),
                                request.getComponents().getExecutor());
        }
    }

    private void send(
            HookPayload hook, int bytes, Ruling ruling, Request request, Response response, Callback callback) {
        ToolGate.Answer answer = ToolGate.answer(hook, ruling);
        CompletableFuture<Void> told = observation.hook(hook, bytes, ruling);
        if (told.isDone()) {
            Answers.json(response, callback, answer.status(), answer.body());
        } else {
            told.whenCompleteAsync(
                    (done, failure) -> Answers.json(response, callback, answer.status(), answer.body()),
                    request.getComponents().getExecutor());
        }
    }

    /** A request is in flight until its callback completes. */
    private static final class Leaving extends Callback.Nested {
        private final Admission admission;

        Leaving(Callback callback, Admission admission) {
            super(callback);
            this.admission = admission;
        }

        @Override
        public void succeeded() {
            super.succeeded();
            admission.leave();
        }

        @Override
        public void failed(Throwable cause) {
            super.failed(cause);
            admission.leave();
        }
    }
}
