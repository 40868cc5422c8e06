package org.nemorelay.worker.internal.observe;

import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.protocol.Secrets;
import org.nemorelay.worker.internal.observe.Session.ToolHint;

/** What model requests leave in the record (plugins.md 1.5 to 1.7). Owned by one thread. */
final class ModelCalls {
    private static final int MAX_SESSIONS = 256;
    /** Of this hop alone, and not what the harness said. */
    private static final Set<String> TRANSPORT = Set.of(
            "host",
            "connection",
            "keep-alive",
            "proxy-connection",
            "transfer-encoding",
            "te",
            "trailer",
            "upgrade",
            "content-length",
            "accept-encoding",
            "expect");

    /** Ours, Claude Code's, Codex's, which is also there on the main thread's requests. */
    private static final List<String> SUBAGENT_HEADERS =
            List.of("x-nemo-relay-subagent-id", "x-claude-code-agent-id", "thread-id");

    private final Scopes scopes;
    private final Supplier<Map<String, Object>> pluginConfig;

    ModelCalls(Scopes scopes, Supplier<Map<String, Object>> pluginConfig) {
        this.scopes = scopes;
        this.pluginConfig = pluginConfig;
    }

    /** A model request is sent on. Where nobody has read its body, the record has the head only. */
    ModelCall started(Session session, ObservedRequest request) {
        Instant now = request.time();
        ModelApi api = request.api();
        Map<String, Object> metadata = requestMetadata(session, request);
        Optional<Scope> owner = owner(session, request.headers(), metadata);
        boolean fresh = session.told.add(owner.map(Scope::uuid).orElse(session.instanceId));
        Optional<Map<String, Object>> content = request.body()
                .flatMap(RequestCopy::content)
                .map(body -> fresh || fullPayloads() ? body : AnnotatedRequest.recent(api, body));
        Map<String, Object> data = new HashMap<>();
        data.put("content", content.orElse(null));
        Map<String, Object> headers = observable(session, request.headers());
        if (owner.isPresent()) {
            headers.put("x-nemo-relay-owner-id", metadata.get("llm_correlation_subagent_id"));
            headers.put("x-nemo-relay-subagent-id", metadata.get("llm_correlation_subagent_id"));
            headers.put("x-nemo-relay-parent-scope-id", owner.get().uuid());
        }
        data.put("headers", headers);
        Map<String, Object> profile = new LinkedHashMap<>();
        content.map(body -> body.get("model"))
                .filter(String.class::isInstance)
                .ifPresent(model -> profile.put("model_name", model));
        content.flatMap(body -> AnnotatedRequest.of(api, body))
                .ifPresent(annotated -> profile.put("annotated_request", annotated));
        boolean streamed = content.map(body -> body.get("stream"))
                .filter(Boolean.TRUE::equals)
                .isPresent();
        Scope scope = scopes.start(
                now,
                scopes.newId(),
                owner.map(Scope::uuid).orElseGet(session::top),
                session.propagationRoot(),
                api.route(),
                "llm",
                profile,
                data,
                metadata,
                streamed ? List.of("streaming") : List.of());
        ModelCall call = new ModelCall(api, session, scope, metadata, content.isEmpty());
        session.calls.add(call);
        return call;
    }

    /** A model request that plugins did not let pass: what guardrails said, and a mark in the place of its scope. */
    void refused(Session session, ObservedRequest request, List<Clearance.Check> checks) {
        Instant now = request.time();
        Map<String, Object> metadata = requestMetadata(session, request);
        for (Clearance.Check check : checks) {
            Scope scope = scopes.start(
                    check.begun(),
                    scopes.newId(),
                    session.top(),
                    session.propagationRoot(),
                    check.plugin(),
                    "guardrail",
                    null,
                    Map.of(
                            "kind",
                            "llm_conditional_execution",
                            "target_name",
                            request.api().route()),
                    metadata);
            scopes.end(check.ended(), scope, null, outcome(check), metadata);
        }
        Optional<String> denial =
                checks.isEmpty() ? Optional.empty() : checks.getLast().denial();
        denial.ifPresent(reason -> scopes.mark(
                now,
                session.top(),
                session.propagationRoot(),
                request.api().route(),
                Map.of("rejected", true, "rejection_reason", reason),
                metadata));
    }

    /** The tools that the answer asks for are known, though the answer may go on. */
    void answerRead(ModelCall call, CallResult result) {
        result.answer().ifPresent(answer -> {
            for (Answers.ToolCall tool : Answers.toolCalls(call.api(), answer)) {
                call.session().toolHints.put(tool.id(), new ToolHint(call.api().toolSource(), tool));
            }
        });
    }

    /** A model request is over; false for one whose turn ended earlier, which has its end already. */
    boolean ended(Instant now, ModelCall call, CallResult result) {
        Session session = call.session();
        if (!session.calls.remove(call)) {
            return false;
        }
        session.lastActivity = now;
        answerRead(call, result);
        Map<String, Object> metadata = new LinkedHashMap<>(call.metadata());
        Map<String, Object> profile = new LinkedHashMap<>(call.scope().profile());
        profile.remove("annotated_request");
        Object data = null;
        boolean answered = result.status() != 0;
        if (answered || result.terminal() == Terminal.CANCELLED) {
            if (call.headOnly()) {
                metadata.put("daemon_worker_request_capture", "head_only");
            }
            Map<String, Object> observation = new LinkedHashMap<>();
            if (answered) {
                observation.put("http_status", (long) result.status());
            }
            observation.put("terminal", result.terminal().word());
            observation.put("truncated", result.truncated());
            result.undecoded().ifPresent(coding -> observation.put("undecoded", coding));
            metadata.put("daemon_worker_observation", observation);
        }
        if (!result.truncated() && result.answer().isPresent()) {
            Map<String, Object> answer = result.answer().get();
            data = answer;
            profile.put("annotated_response", Answers.annotated(call.api(), answer));
            if (result.status() < 300) {
                session.lastAnswer = Optional.of(answer);
            }
        }
        metadata.putAll(outcome(result));
        scopes.end(now, call.scope(), profile, data, metadata);
        return true;
    }

    /** Asked at every request: the file changes while requests run. */
    private boolean fullPayloads() {
        return pluginConfig.get().get("components") instanceof List<?> components
                && components.stream()
                        .map(StreamedAnswer::objectOf)
                        .filter(component -> "observability".equals(component.get("kind")))
                        .anyMatch(component -> Boolean.TRUE.equals(
                                StreamedAnswer.objectOf(component.get("config")).get("enable_full_payloads")));
    }

    private static Map<String, Object> requestMetadata(Session session, ObservedRequest request) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("agent_kind", session.agentKind);
        metadata.put("session_id", session.id);
        metadata.put("gateway_path", request.path());
        return metadata;
    }

    /**
     * The subagent that a request belongs to; empty for the turn's own (plugins.md 1.7, "LLM owner order", as far as the
     * head of a request tells).
     */
    private static Optional<Scope> owner(Session session, Map<String, String> headers, Map<String, Object> metadata) {
        Optional<String> named = SUBAGENT_HEADERS.stream()
                .map(headers::get)
                .filter(session.subagents::containsKey)
                .findFirst();
        String status;
        if (named.isPresent()) {
            status = "explicit";
        } else if (!session.callHints.isEmpty()) {
            status = "single_hint";
            metadata.put("llm_correlation_source", session.callHints.removeFirst());
        } else if (session.subagents.size() == 1) {
            status = "active_subagent";
            named = session.subagents.keySet().stream().findFirst();
        } else {
            status = session.subagents.isEmpty() ? "agent_fallback" : "ambiguous_fallback";
        }
        metadata.put("llm_correlation_status", status);
        named.ifPresent(id -> metadata.put("llm_correlation_subagent_id", id));
        return named.map(session.subagents::get);
    }

    private Map<String, Object> observable(Session session, Map<String, String> headers) {
        Map<String, Object> observable = new TreeMap<>();
        headers.forEach((name, value) -> {
            if (!TRANSPORT.contains(name) && !name.startsWith("x-nemo-relay-") && !Secrets.isSecret(name, value)) {
                observable.put(name, value);
            }
        });
        observable.put("x-nemo-relay-agent-kind", session.agentKind);
        observable.put("x-nemo-relay-identity-quality", "native");
        observable.put("x-nemo-relay-parent-scope-id", session.top());
        observable.put("x-nemo-relay-request-id", "relay-request-" + scopes.newId());
        observable.put("x-nemo-relay-root-scope-id", session.rootScope());
        observable.put("x-nemo-relay-session-id", session.id);
        observable.put("x-nemo-relay-source", "gateway");
        observable.put("x-nemo-relay-turn-id", Integer.toString(session.turnIndex));
        return observable;
    }

    private static Map<String, Object> outcome(Clearance.Check check) {
        if (check.failure().isPresent()) {
            return Map.of("allowed", false, "error", check.failure().get());
        }
        return check.denial().isPresent()
                ? Map.of(
                        "allowed",
                        false,
                        "rejected",
                        true,
                        "rejection_reason",
                        check.denial().get())
                : Map.of("allowed", true, "rejected", false);
    }

    private static Map<String, Object> outcome(CallResult result) {
        String failure;
        String type;
        if (result.truncated()) {
            failure = "observation was truncated";
            type = "internal_error";
        } else if (result.status() == 0) {
            failure = result.terminal() == Terminal.CANCELLED
                    ? "the client went away before an answer came"
                    : "no answer came";
            type = "connection_error";
        } else if (result.status() >= 400) {
            failure = "the provider answered " + result.status();
            type = errorType(result.status());
        } else if (result.terminal() == Terminal.BODY_ERROR) {
            failure = "the provider's answer broke off";
            type = "connection_error";
        } else {
            return Map.of("otel.status_code", "OK");
        }
        return Map.of("otel.status_code", "ERROR", "otel.status_description", failure, "error.type", type);
    }

    private static String errorType(int status) {
        return switch (status) {
            case 401, 403 -> "authentication";
            case 404 -> "not_found";
            case 408, 504 -> "timeout";
            case 429, 500, 502, 503, 529 -> "retryable_status";
            default -> status < 500 ? "invalid_request" : "upstream_error";
        };
    }
}
