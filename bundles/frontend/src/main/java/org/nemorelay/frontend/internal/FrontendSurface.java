package org.nemorelay.frontend.internal;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Promise;
import org.nemorelay.fleet.AgentChat;
import org.nemorelay.frontend.internal.NodeRegistry.Node;
import org.nemorelay.frontend.internal.NodeRegistry.Type;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.dial.WorkerDialers;

/** The frontend's paths: models for callers, the nodes' API, jobs. */
final class FrontendSurface extends Handler.Abstract.NonBlocking {
    private static final String AGENT_CHAT = "/api/agents/[^/]+/chat";
    private static final int MAX_BODY = 32 << 20;
    private static final int MAX_NAME = 255;
    private static final int MAX_ADDRESS = 512;

    private final Map<String, ModelEntry> models;
    private final NodeRegistry registry;
    private final Router router;
    private final Jobs jobs;
    private final WorkQueue queue;
    private final WorkerDialers dialers;
    private final Optional<byte[]> registrationToken;
    private final Optional<byte[]> apiKey;

    FrontendSurface(
            List<ModelEntry> models,
            NodeRegistry registry,
            Router router,
            Jobs jobs,
            WorkQueue queue,
            WorkerDialers dialers,
            String registrationToken,
            String apiKey) {
        this.models = new LinkedHashMap<>();
        models.forEach(model -> this.models.put(model.name(), model));
        this.registry = registry;
        this.router = router;
        this.jobs = jobs;
        this.queue = queue;
        this.dialers = dialers;
        this.registrationToken = bearer(registrationToken);
        this.apiKey = bearer(apiKey);
    }

    private static Optional<byte[]> bearer(String token) {
        return token.isEmpty() ? Optional.empty() : Optional.of(("Bearer " + token).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        String path = request.getHttpURI().getCanonicalPath();
        String method = request.getMethod();
        if (path.equals("/healthz") && method.equals("GET")) {
            Surface.json(response, callback, 200, Json.object("service", "nemo-relay-frontend", "status", "ok"));
        } else if (path.startsWith("/v1/") || path.startsWith("/api/jobs") || path.startsWith("/api/agents/")) {
            if (!shows(request, apiKey)) {
                refuse(request, response, callback, FailureKind.UNAUTHORIZED, "the API key is missing or wrong");
            } else {
                calls(method, path, request, response, callback);
            }
        } else if (path.startsWith("/api/node")) {
            if (!shows(request, registrationToken)) {
                refuse(
                        request,
                        response,
                        callback,
                        FailureKind.UNAUTHORIZED,
                        "the registration token is missing or wrong");
            } else {
                nodes(method, path, request, response, callback);
            }
        } else {
            nothingThere(request, response, callback);
        }
        return true;
    }

    private static boolean shows(Request request, Optional<byte[]> wanted) {
        String shown = request.getHeaders().get(HttpHeader.AUTHORIZATION);
        return wanted.isEmpty()
                || shown != null && MessageDigest.isEqual(wanted.get(), shown.getBytes(StandardCharsets.UTF_8));
    }

    /** The method that a path of this surface has, where it has only one. */
    private static Optional<String> method(String path) {
        return switch (path) {
            case "/healthz", "/v1/models", "/api/nodes" -> Optional.of("GET");
            case "/v1/chat/completions", "/api/jobs", "/api/node/register" -> Optional.of("POST");
            default ->
                path.startsWith("/api/jobs/")
                        ? Optional.of("GET")
                        : path.matches(AGENT_CHAT) ? Optional.of("POST") : Optional.empty();
        };
    }

    private static void nothingThere(Request request, Response response, Callback callback) {
        Optional<String> allowed = method(request.getHttpURI().getCanonicalPath());
        if (allowed.isPresent() && !allowed.get().equals(request.getMethod())) {
            refuse(
                    request,
                    response,
                    callback,
                    405,
                    FailureKind.INVALID_ARGUMENT,
                    "this path wants " + allowed.get(),
                    new HttpField(HttpHeader.ALLOW, allowed.get()));
        } else {
            refuse(request, response, callback, FailureKind.NOT_FOUND, "there is nothing at this path");
        }
    }

    private static void refuse(
            Request request, Response response, Callback callback, FailureKind kind, String message) {
        refuse(request, response, callback, kind.status(), kind, message);
    }

    /** In OpenAI's form for {@code /v1/}, in that of the nodes' API elsewhere. */
    private static void refuse(
            Request request,
            Response response,
            Callback callback,
            int status,
            FailureKind kind,
            String message,
            HttpField... headers) {
        boolean openAi = request.getHttpURI().getCanonicalPath().startsWith("/v1/");
        Surface.json(
                response,
                callback,
                status,
                openAi ? OpenAi.error(kind, message) : Json.object("error", message),
                headers);
    }

    private void calls(String method, String path, Request request, Response response, Callback callback) {
        if (method.equals("GET") && path.equals("/v1/models")) {
            Surface.json(response, callback, 200, OpenAi.models(List.copyOf(models.values())));
        } else if (method.equals("POST") && path.equals("/v1/chat/completions")) {
            body(request, response, callback, body -> chat(body, request, response, callback));
        } else if (method.equals("POST") && path.equals("/api/jobs")) {
            body(
                    request,
                    response,
                    callback,
                    body -> Surface.json(
                            response, callback, 202, Json.object("job_id", jobs.submit(Json.parseObject(body)))));
        } else if (method.equals("GET") && path.startsWith("/api/jobs/")) {
            jobs.job(path.substring("/api/jobs/".length()))
                    .ifPresentOrElse(
                            job -> Surface.json(response, callback, 200, job.json()),
                            () -> refuse(request, response, callback, FailureKind.NOT_FOUND, "there is no such job"));
        } else if (method.equals("POST") && path.matches(AGENT_CHAT)) {
            String agent = path.split("/")[3];
            body(request, response, callback, body -> {
                String id = agentRun(agent, Json.parseObject(body));
                Surface.json(response, callback, 202, Json.object("message_id", id));
            });
        } else {
            nothingThere(request, response, callback);
        }
    }

    private String agentRun(String agent, JsonObject request) {
        String id = UUID.randomUUID().toString();
        queue.enqueue(
                Context.background(),
                WorkKind.AGENT_RUN,
                new AgentChat(
                                agent,
                                request.optionalString("user_id").orElse(""),
                                request.string("message"),
                                id,
                                "user",
                                Optional.of(JsonObject.of(
                                        Json.object("name", agent, "model", request.string("model")), "config")))
                        .encode());
        return id;
    }

    private void chat(byte[] body, Request request, Response response, Callback callback) {
        String id = "chatcmpl-" + UUID.randomUUID();
        OpenAi.Chat chat = OpenAi.chat(body, id);
        ModelEntry model = models.get(chat.model());
        if (model == null) {
            refuse(request, response, callback, FailureKind.NOT_FOUND, "there is no model " + chat.model() + " here");
            return;
        }
        new ChatCompletion(
                        router,
                        model,
                        chat,
                        new OpenAi.Envelope(id, Instant.now().getEpochSecond(), model.name()),
                        request,
                        response,
                        callback)
                .run();
    }

    private void nodes(String method, String path, Request request, Response response, Callback callback) {
        String[] parts = path.split("/");
        if (method.equals("GET") && path.equals("/api/nodes")) {
            Surface.json(
                    response,
                    callback,
                    200,
                    Json.object("nodes", registry.all().stream().map(this::json).toList()));
        } else if (method.equals("POST") && path.equals("/api/node/register")) {
            body(request, response, callback, body -> register(Json.parseObject(body), response, callback));
        } else if (method.equals("POST") && parts.length == 5) {
            body(request, response, callback, body -> self(parts[3], parts[4], body, request, response, callback));
        } else if (method.equals("DELETE") && parts.length == 4) {
            Optional<Node> gone = registry.remove(parts[3]);
            gone.ifPresent(node -> forget(node.id()));
            known(gone.isPresent(), request, response, callback);
        } else {
            nothingThere(request, response, callback);
        }
    }

    private Map<String, Object> json(Node node) {
        return Json.object(
                "id", node.id(),
                "name", node.name(),
                "node_type", node.type().name().toLowerCase(java.util.Locale.ROOT),
                "address", node.address(),
                "http_address", node.httpAddress(),
                "status", node.status().name().toLowerCase(java.util.Locale.ROOT),
                "last_heartbeat", node.lastHeartbeat().toString(),
                "in_flight", router.inFlight(node.id()),
                "models", router.models(node.id()));
    }

    private void register(JsonObject body, Response response, Callback callback) {
        String name = body.optionalString("name").orElse("");
        String type = body.optionalString("node_type").orElse("backend");
        String address = body.optionalString("address").orElse("");
        if (name.isEmpty() || name.length() > MAX_NAME) {
            throw new JsonException("name must have 1 to 255 characters");
        }
        if (!type.equals("backend") && !type.equals("agent")) {
            throw new JsonException("node_type must be backend or agent");
        }
        if (type.equals("backend") && address.isEmpty() || address.length() > MAX_ADDRESS) {
            throw new JsonException("address must have 1 to 512 characters");
        }
        Node node = registry.register(
                name,
                type.equals("agent") ? Type.AGENT : Type.BACKEND,
                address,
                body.optionalString("http_address").orElse(""),
                body.optionalString("incarnation").orElse(""),
                Instant.now());
        forget(node.id());
        Surface.json(
                response,
                callback,
                201,
                Json.object(
                        "id", node.id(),
                        "name", node.name(),
                        "node_type", type,
                        "status", node.status().name().toLowerCase(java.util.Locale.ROOT),
                        "created_at", node.lastHeartbeat().toString()));
    }

    /** What was open to the node belongs to its former life. */
    private void forget(String nodeId) {
        router.forgetNode(nodeId);
        dialers.forgetNode(nodeId);
    }

    private void self(String id, String verb, byte[] body, Request request, Response response, Callback callback) {
        switch (verb) {
            case "heartbeat" -> {
                String incarnation = body.length == 0
                        ? ""
                        : Json.parseObject(body).optionalString("incarnation").orElse("");
                known(registry.heartbeat(id, incarnation, Instant.now()), request, response, callback);
            }
            case "drain" -> known(registry.drain(id), request, response, callback);
            case "resume" -> known(registry.resume(id), request, response, callback);
            case "deregister" -> {
                boolean known = registry.leave(id);
                if (known) {
                    forget(id);
                }
                known(known, request, response, callback);
            }
            default -> nothingThere(request, response, callback);
        }
    }

    private static void known(boolean known, Request request, Response response, Callback callback) {
        if (known) {
            Surface.json(response, callback, 200, Json.object("status", "ok"));
        } else {
            refuse(request, response, callback, FailureKind.NOT_FOUND, "there is no such node");
        }
    }

    private interface Work {
        void on(byte[] body);
    }

    /** Reads the body without a thread, then works on it on a virtual one. */
    private static void body(Request request, Response response, Callback callback, Work work) {
        Content.Source.asByteArrayAsync(request, MAX_BODY, new Promise.Invocable.NonBlocking<byte[]>() {
            @Override
            public void succeeded(byte[] body) {
                Thread.ofVirtual().name("frontend request").start(() -> run(body, request, response, callback, work));
            }

            @Override
            public void failed(Throwable failure) {
                refuse(
                        request,
                        response,
                        callback,
                        FailureKind.PAYLOAD_TOO_LARGE,
                        "the body cannot be read, or has more than 32 MiB");
            }
        });
    }

    private static void run(byte[] body, Request request, Response response, Callback callback, Work work) {
        try {
            work.on(body);
        } catch (JsonException e) {
            refuse(request, response, callback, FailureKind.INVALID_ARGUMENT, e.getMessage());
        } catch (SeamException e) {
            refuse(request, response, callback, e.kind(), e.getMessage());
        } catch (RuntimeException e) {
            refuse(request, response, callback, FailureKind.INTERNAL, "the request failed: " + Reasons.of(e));
        }
    }
}
