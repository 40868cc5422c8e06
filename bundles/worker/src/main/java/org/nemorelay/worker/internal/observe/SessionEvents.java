package org.nemorelay.worker.internal.observe;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pluginhost.Judgement;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.protocol.HookAgent;
import org.nemorelay.worker.internal.hook.HookPayload;
import org.nemorelay.worker.internal.observe.Session.ToolHint;

/**
 * What a coding agent's session leaves in the record (plugins.md 1.7): sessions, turns, model calls, tool calls and marks,
 * in the order in which traffic came. Owned by one thread; no I/O, the time is passed in.
 */
final class SessionEvents {
    static final Duration IDLE_TURN = Duration.ofSeconds(30);

    private static final int MAX_SESSIONS = 256;
    private static final Set<String> CREDENTIALS = Set.of(
            "authorization",
            "proxy-authorization",
            "cookie",
            "x-api-key",
            "api-key",
            "anthropic-api-key",
            "x-goog-api-key");

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
    private final Map<String, Session> sessions = new LinkedHashMap<>();

    /** @param pluginConfig the plugins.toml in force as of now, as session and turn scopes repeat it */
    SessionEvents(Scopes scopes, Supplier<Map<String, Object>> pluginConfig) {
        this.scopes = scopes;
        this.pluginConfig = pluginConfig;
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

    /**
     * A harness's hook.
     *
     * @param ruling what policies say to the tool call that it asks about
     */
    void hook(Instant now, HookPayload hook, Ruling ruling) {
        Session session = sessionOf(hook);
        session.lastActivity = now;
        switch (hook.agent()) {
            case CODEX, CLAUDE_CODE -> turnAgentHook(now, session, hook, ruling);
            case PI -> piHook(now, session, hook, ruling);
        }
    }

    /** Whether a request is Claude Code's probe of its credential, which is none while a turn goes on. */
    boolean startUpProbe(ObservedRequest request, byte[] body) {
        Optional<Session> known = namedSession(request).map(sessions::get);
        return known.flatMap(session -> session.turn).isEmpty() && StartUpProbe.is(body);
    }

    /** The request's session, which has an open turn from here on. */
    private Session requestedIn(ObservedRequest request) {
        Session session = sessionOf(request);
        session.lastActivity = request.time();
        if (session.turn.isEmpty()) {
            boolean claude = session.agentKind.equals(HookAgent.CLAUDE_CODE.word());
            Optional<String> prompt = claude && request.api() == ModelApi.ANTHROPIC_MESSAGES
                    ? request.body().flatMap(RequestCopy::content).flatMap(AnnotatedRequest::prompt)
                    : Optional.empty();
            openTurn(
                    request.time(),
                    session,
                    prompt.isPresent() ? "gateway_request" : "implicit",
                    prompt.map(text -> Map.of("prompt", text)).orElse(null),
                    prompt.isPresent() ? Map.of("gateway_path", request.path()) : Map.of());
        }
        return session;
    }

    private static Map<String, Object> requestMetadata(Session session, ObservedRequest request) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("agent_kind", session.agentKind);
        metadata.put("session_id", session.id);
        metadata.put("gateway_path", request.path());
        return metadata;
    }

    /** A model request is sent on. Where nobody has read its body, the record has the head only. */
    ModelCall callStarted(ObservedRequest request) {
        Instant now = request.time();
        ModelApi api = request.api();
        Session session = requestedIn(request);
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
    void callRefused(ObservedRequest request, List<Clearance.Check> checks) {
        Instant now = request.time();
        Session session = requestedIn(request);
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

    /** The tools that the answer asks for are known, though the answer may go on. */
    void answerRead(ModelCall call, CallResult result) {
        result.answer().ifPresent(answer -> {
            for (Answers.ToolCall tool : Answers.toolCalls(call.api(), answer)) {
                call.session().toolHints.put(tool.id(), new ToolHint(call.api().toolSource(), tool));
            }
        });
    }

    /** A model request is over. One whose turn ended earlier has its end already. */
    void callEnded(Instant now, ModelCall call, CallResult result) {
        Session session = call.session();
        if (!session.calls.remove(call)) {
            return;
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
        if (session.isolated) {
            closeTurn(now, session, "uncorrelated_gateway_call_complete", Optional.empty(), Map.of());
            closeOuter(now, session, "uncorrelated_gateway_call_complete");
            sessions.remove(session.id);
        }
    }

    /** Ends the turns in which nothing has happened and nothing runs; forgets the oldest sessions beyond a number. */
    void sweep(Instant now) {
        for (Session session : sessions.values()) {
            if (session.turn.isPresent()
                    && session.idle()
                    && session.lastActivity.plus(IDLE_TURN).isBefore(now)) {
                closeTurn(now, session, "idle_timeout", Optional.empty(), Map.of());
                closeTask(now, session, "idle_timeout");
            }
        }
        int surplus = sessions.size() - MAX_SESSIONS;
        for (Session session : surplus > 0 ? List.copyOf(sessions.values()) : List.<Session>of()) {
            if (surplus > 0 && session.turn.isEmpty() && session.idle()) {
                closeOuter(now, session, "idle_timeout");
                sessions.remove(session.id);
                surplus--;
            }
        }
    }

    /** Ends everything that is open. */
    void close(Instant now, String reason) {
        for (Session session : sessions.values()) {
            closeTurn(now, session, reason, Optional.empty(), Map.of());
            closeOpen(now, session, reason);
            closeOuter(now, session, reason);
        }
        sessions.clear();
    }

    private void turnAgentHook(Instant now, Session session, HookPayload hook, Ruling ruling) {
        switch (hook.eventWord()) {
            case "sessionstart" -> {
                Map<String, Object> metadata = scopeMetadata(session, hook.metadata());
                if (session.agentKind.equals("codex") && session.outer.isEmpty()) {
                    session.pendingStart = Optional.of(metadata);
                } else {
                    startMark(now, session, metadata);
                }
            }
            case "userpromptsubmit" -> prompt(now, session, hook);
            case "userpromptexpansion" -> skillExpanded(now, session, hook);
            case "pretooluse" -> toolGate(now, session, hook, ruling);
            case "permissionrequest" -> permission(now, session, hook, ruling);
            case "posttooluse" -> toolEnd(now, session, hook, false);
            case "posttoolusefailure", "permissiondenied" -> toolEnd(now, session, hook, true);
            case "subagentstart" -> subagentStart(now, session, hook);
            case "subagentstop" -> subagentStop(now, session, hook);
            case "precompact", "postcompact" -> compaction(now, session, hook);
            case "notification" -> mark(now, session, "notification", hook);
            case "stop" -> {
                closeTurn(now, session, "closed_by_turn_end", Optional.ofNullable(hook.json()), hook.metadata());
                closeTask(now, session, "completed");
            }
            case "sessionend" -> {
                closeTurn(now, session, "closed_by_agent_end", Optional.empty(), Map.of());
                closeOuter(now, session, "closed_by_agent_end");
                sessions.remove(session.id);
            }
            default -> otherHook(now, session, hook, ruling);
        }
    }

    private void piHook(Instant now, Session session, HookPayload hook, Ruling ruling) {
        switch (hook.eventWord()) {
            case "sessionstart" -> {
                openOuter(now, session, hook.metadata());
                startMark(now, session, scopeMetadata(session, hook.metadata()));
            }
            case "sessionshutdown" -> {
                if (hook.json() instanceof Map<?, ?> payload && "reload".equals(payload.get("reason"))) {
                    return;
                }
                closeTurn(now, session, "closed_by_agent_end", Optional.empty(), Map.of());
                closeOpen(now, session, "closed_by_agent_end");
                session.outer.ifPresent(
                        scope -> scopes.end(now, scope, null, hook.json(), scope.metadataWith(hook.metadata())));
                sessions.remove(session.id);
            }
            case "turnstart" -> prompt(now, session, hook);
            case "turnend" ->
                closeTurn(now, session, "closed_by_turn_end", Optional.ofNullable(hook.json()), hook.metadata());
            case "toolcall", "userbash" -> toolGate(now, session, hook, ruling);
            case "toolexecutionend" -> toolEnd(now, session, hook, false);
            case "userbashend" -> toolEnd(now, session, hook, false);
            case "sessioncompact" -> compaction(now, session, hook);
            default -> otherHook(now, session, hook, ruling);
        }
    }

    private void prompt(Instant now, Session session, HookPayload hook) {
        boolean tasks = session.agentKind.equals(HookAgent.CODEX.word());
        if (session.turn.isPresent() && !session.turnHasPrompt && !tasks) {
            // The model request came first and opened the turn.
            session.turnHasPrompt = true;
            mark(now, session, "prompt_submitted", hook);
        } else {
            closeTurn(now, session, "superseded_by_next_turn", Optional.empty(), Map.of());
            closeTask(now, session, "superseded_by_next_task");
            openTurn(now, session, "user_prompt", hook.json(), hook.metadata());
        }
        session.callHints.clear();
        session.callHints.add(hook.eventName());
    }

    private void mark(Instant now, Session session, String name, HookPayload hook) {
        openBetweenTurns(now, session, hook.metadata());
        scopes.mark(now, session.top(), session.propagationRoot(), name, hook.json(), hook.metadata());
    }

    /** An event of no meaning of its own; policies may have denied one that they could not read. */
    private void otherHook(Instant now, Session session, HookPayload hook, Ruling ruling) {
        guardrails(session, hook, ruling);
        mark(now, session, "hook_mark", hook);
    }

    private void compaction(Instant now, Session session, HookPayload hook) {
        mark(now, session, "compaction", hook);
        // The agent whose conversation it is tells it anew; its subagents have conversations of their own.
        session.told.remove(
                hook.subagentId().map(session.subagents::get).map(Scope::uuid).orElse(session.instanceId));
    }

    private void startMark(Instant now, Session session, Map<String, Object> metadata) {
        String parent = session.outer.map(Scope::uuid).orElse(session.instanceId);
        scopes.mark(now, parent, session.propagationRoot(), "session.start", null, metadata);
    }

    /** What a mark or a tool needs around it: a turn, or the session's scope where turns are optional. */
    private void openBetweenTurns(Instant now, Session session, Map<String, Object> event) {
        if (session.agentKind.equals(HookAgent.PI.word())) {
            openOuter(now, session, event);
        } else {
            openTurn(now, session, "implicit", null, event);
        }
    }

    private void openTurn(Instant now, Session session, String source, Object data, Map<String, Object> event) {
        if (session.turn.isPresent()) {
            return;
        }
        openOuter(now, session, event);
        session.turnIndex++;
        session.turnHasPrompt = source.equals("user_prompt");
        Map<String, Object> metadata = scopeMetadata(session, event);
        metadata.put("nemo_relay_scope_role", "turn");
        metadata.put("turn_index", (long) session.turnIndex);
        metadata.put("turn_source", source);
        session.turn = Optional.of(scopes.start(
                now,
                scopes.newId(),
                session.top(),
                session.propagationRoot(),
                session.agentKind + "-turn",
                "custom",
                null,
                data,
                metadata));
        session.lastAnswer = Optional.empty();
    }

    /** Opens the scope that spans a session, or a Codex task; Claude Code's turns stand for themselves. */
    private void openOuter(Instant now, Session session, Map<String, Object> event) {
        boolean task = session.agentKind.equals(HookAgent.CODEX.word());
        if (session.outer.isPresent() || !task && !session.spansTurns()) {
            return;
        }
        String uuid = scopes.newId();
        Map<String, Object> metadata = scopeMetadata(session, event);
        metadata.put("nemo_relay_scope_role", task ? "task" : "session");
        session.outer = Optional.of(scopes.start(
                now,
                uuid,
                session.instanceId,
                uuid,
                task ? "codex-task" : session.agentKind,
                "agent",
                null,
                null,
                metadata));
        session.told.clear();
        session.pendingStart.ifPresent(start -> startMark(now, session, start));
        session.pendingStart = Optional.empty();
    }

    /** Ends the turn: with the model's last answer, else with what the hook said, else with the reason. */
    private void closeTurn(
            Instant now, Session session, String reason, Optional<Object> payload, Map<String, Object> event) {
        if (session.turn.isEmpty()) {
            return;
        }
        closeOpen(now, session, reason);
        Scope turn = session.turn.get();
        Object data = session.lastAnswer.or(() -> payload).orElse(Map.of("status", reason));
        scopes.end(now, turn, null, data, turn.metadataWith(event));
        session.turn = Optional.empty();
        session.callHints.clear();
        session.toolHints.clear();
    }

    private void closeTask(Instant now, Session session, String status) {
        if (!session.spansTurns()) {
            closeOuter(now, session, status);
        }
    }

    private void closeOuter(Instant now, Session session, String status) {
        session.outer.ifPresent(scope -> scopes.end(now, scope, null, Map.of("status", status), scope.metadata()));
        session.outer = Optional.empty();
    }

    /** Ends what runs inside a turn. */
    private void closeOpen(Instant now, Session session, String reason) {
        Map<String, Object> status = Map.of("status", reason);
        for (Scope tool : session.tools.values()) {
            Map<String, Object> metadata = tool.metadataWith(status);
            metadata.put("tool_completion_outcome", "incomplete");
            metadata.put("tool_completion_source", "lifecycle");
            metadata.put("tool_completion_timing", "upper_bound");
            scopes.end(now, tool, tool.profile(), status, metadata);
        }
        session.tools.clear();
        for (ModelCall call : session.calls) {
            scopes.end(now, call.scope(), Map.of(), status, call.scope().metadataWith(status));
        }
        session.calls.clear();
        for (Scope subagent : session.subagents.values()) {
            scopes.end(now, subagent, null, status, subagent.metadataWith(status));
        }
        session.subagents.clear();
    }

    /** A tool call that the agent asks about: what policies said to it, and its scope unless they stop it. */
    private void toolGate(Instant now, Session session, HookPayload hook, Ruling ruling) {
        guardrails(session, hook, ruling);
        if (ruling.denial().isPresent()) {
            Map<String, Object> rejected =
                    Map.of("rejected", true, "rejection_reason", ruling.denial().get());
            Map<String, Object> metadata = callMetadata(session, hook);
            scopes.mark(now, toolParent(session, hook), session.propagationRoot(), hook.toolName(), rejected, metadata);
        } else {
            toolStart(now, session, hook);
        }
    }

    /** The agent may ask about a call whose scope is open; a denial then ends that. */
    private void permission(Instant now, Session session, HookPayload hook, Ruling ruling) {
        guardrails(session, hook, ruling);
        mark(now, session, "hook_mark", hook);
        Optional<String> denial = ruling.denial();
        Map<String, Object> decision = new LinkedHashMap<>();
        decision.put("agent_kind", session.agentKind);
        decision.put("decision_source", "nemo_relay");
        decision.put("event_name", hook.eventName());
        decision.put("policy_outcome", denial.isPresent() ? "deny" : "pass");
        decision.put("tool_call_id", hook.toolCallId().orElse(null));
        decision.put("tool_name", hook.toolName());
        denial.ifPresent(reason -> decision.put("reason", reason));
        scopes.customMark(
                now,
                toolParent(session, hook),
                session.propagationRoot(),
                "nemo_relay.permission.policy_decision",
                decision,
                nativeMetadata(session, hook));
        if (denial.isPresent()) {
            Optional<String> open = openTool(session, hook);
            Optional<Scope> tool = open.map(session.tools::remove);
            tool.ifPresent(scope -> scopes.end(
                    now,
                    scope,
                    scope.profile(),
                    null,
                    scope.metadataWith(Map.of(
                            "status", "denied",
                            "otel.status_code", "ERROR",
                            "otel.status_description", denial.get(),
                            "error.type", "guardrail_rejected"))));
        }
    }

    /** The open call that a request for permission is about: by its id, else the only one of that tool. */
    private static Optional<String> openTool(Session session, HookPayload hook) {
        Optional<String> id = hook.toolCallId();
        if (id.isPresent()) {
            return id.filter(session.tools::containsKey);
        }
        List<String> same = session.tools.entrySet().stream()
                .filter(tool -> tool.getValue().name().equals(hook.toolName()))
                .map(Map.Entry::getKey)
                .toList();
        return same.size() == 1 ? Optional.of(same.getFirst()) : Optional.empty();
    }

    private void guardrails(Session session, HookPayload hook, Ruling ruling) {
        for (Judgement judgement : ruling.judgements()) {
            openBetweenTurns(judgement.begun(), session, hook.metadata());
            Map<String, Object> metadata = callMetadata(session, hook);
            Scope scope = scopes.start(
                    judgement.begun(),
                    scopes.newId(),
                    toolParent(session, hook),
                    session.propagationRoot(),
                    judgement.plugin(),
                    "guardrail",
                    null,
                    Map.of("kind", "tool_conditional_execution", "target_name", hook.toolName()),
                    metadata);
            scopes.end(judgement.ended(), scope, null, outcome(judgement.verdict()), metadata);
        }
    }

    private static Map<String, Object> outcome(Judgement.Verdict verdict) {
        return switch (verdict) {
            case Judgement.Verdict.Allowed() -> Map.of("allowed", true, "rejected", false);
            case Judgement.Verdict.Asked(String reason) ->
                Map.of("allowed", true, "rejected", false, "asked", true, "question", reason);
            case Judgement.Verdict.Denied(String reason) ->
                Map.of("allowed", false, "rejected", true, "rejection_reason", reason);
            case Judgement.Verdict.Failed(String reason) -> Map.of("allowed", false, "error", reason);
        };
    }

    private static Map<String, Object> callMetadata(Session session, HookPayload hook) {
        Map<String, Object> metadata = new LinkedHashMap<>(hook.metadata());
        metadata.put("session_id", session.id);
        hook.toolCallId().ifPresent(id -> metadata.put("gen_ai.tool.call.id", id));
        return metadata;
    }

    private static String toolParent(Session session, HookPayload hook) {
        return hook.subagentId().map(session.subagents::get).map(Scope::uuid).orElseGet(session::top);
    }

    private void skillExpanded(Instant now, Session session, HookPayload hook) {
        Optional<String> skill = Stream.of("skill_name", "command_name", "command", "name")
                .flatMap(key -> hook.text(key).stream())
                .findFirst();
        if (skill.isEmpty()) {
            mark(now, session, "hook_mark", hook);
            return;
        }
        openBetweenTurns(now, session, hook.metadata());
        Map<String, Object> metadata = new LinkedHashMap<>(hook.metadata());
        metadata.put("skill_load_source", "prompt_expansion");
        metadata.put("inferred", true);
        hook.text("command_source").ifPresent(source -> metadata.put("command_source", source));
        Map<String, Object> data = Map.of("skill_name", SkillLoads.plain(skill.get()));
        scopes.mark(now, session.top(), session.propagationRoot(), "skill.load.inferred", data, metadata);
    }

    private void toolStart(Instant now, Session session, HookPayload hook) {
        String name = hook.toolName();
        Optional<String> given = hook.toolCallId();
        if (given.isPresent() && session.tools.containsKey(given.get())) {
            return;
        }
        openBetweenTurns(now, session, hook.metadata());
        String id = given.orElseGet(() -> "tool-" + scopes.newId());
        Optional<String> subagent = hook.subagentId().filter(session.subagents::containsKey);
        Map<String, Object> metadata = toolMetadata(session, hook, subagent);
        if (given.isEmpty()) {
            metadata.put("tool_call_id_generated", true);
        }
        if (name.startsWith("mcp__")) {
            metadata.put("mcp.method.name", "tools/call");
        }
        // Pi joins the Responses API's call id and item id.
        int bar = id.indexOf('|');
        ToolHint hint = session.toolHints.remove(bar < 0 ? id : id.substring(0, bar));
        if (subagent.isPresent()) {
            metadata.put("tool_correlation_status", "explicit");
            metadata.put("tool_correlation_source", "hook_payload");
            metadata.put("tool_correlation_subagent_id", subagent.get());
        } else if (hint == null) {
            metadata.put("tool_correlation_status", "agent_fallback");
        } else {
            metadata.put("tool_correlation_status", "single_hint");
            metadata.put("tool_correlation_source", hint.source());
            metadata.put("tool_correlation_tool_call_id", hint.call().id());
            metadata.put("tool_correlation_tool_name", hint.call().name());
            metadata.put("tool_correlation_arguments", hint.call().arguments());
        }
        Object arguments = hook.toolArguments();
        Scope tool = scopes.start(
                now,
                scopes.newId(),
                toolParent(session, hook),
                session.propagationRoot(),
                name,
                "tool",
                Map.of("tool_call_id", id),
                arguments,
                metadata);
        session.tools.put(id, tool);
        SkillLoads.Loads loads = SkillLoads.of(name, arguments);
        for (String skill : loads.skills()) {
            scopes.mark(
                    now.plusNanos(1000),
                    tool.uuid(),
                    session.propagationRoot(),
                    "skill.load",
                    Map.of("skill_name", skill),
                    Map.of("skill_load_source", loads.source(), "tool_name", name));
        }
    }

    private void toolEnd(Instant now, Session session, HookPayload hook, boolean failed) {
        Scope tool = hook.toolCallId().map(session.tools::remove).orElse(null);
        if (tool == null) {
            // Nothing began it, so there is no duration to tell.
            toolEndAlone(now, session, hook, failed);
            return;
        }
        Map<String, Object> more = new LinkedHashMap<>(hook.metadata());
        hook.toolStatus()
                .or(() -> failed
                        ? Optional.of(hook.eventWord().equals("permissiondenied") ? "denied" : "error")
                        : Optional.empty())
                .ifPresent(status -> more.put("status", status));
        if (failed) {
            more.put("otel.status_code", "ERROR");
            more.put("error.type", "tool_execution_failed");
        }
        scopes.end(now, tool, tool.profile(), hook.toolResult(failed), tool.metadataWith(more));
    }

    private void toolEndAlone(Instant now, Session session, HookPayload hook, boolean failed) {
        openBetweenTurns(now, session, hook.metadata());
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("arguments", hook.toolArguments());
        data.put("result", hook.toolResult(failed));
        data.put("status", hook.toolStatus().orElse(null));
        data.put("subagent_id", hook.subagentId().orElse(null));
        data.put("tool_call_id", hook.toolCallId().orElse(null));
        data.put("tool_name", hook.toolName());
        Map<String, Object> metadata = scopeMetadata(session, hook.metadata());
        metadata.putAll(toolMetadata(session, hook, Optional.empty()));
        metadata.put("start_observed", false);
        scopes.mark(now, session.top(), session.propagationRoot(), "tool_end_without_start", data, metadata);
    }

    /** What every record of a tool call says of the agent that makes it. */
    private static Map<String, Object> toolMetadata(Session session, HookPayload hook, Optional<String> subagent) {
        Map<String, Object> agent = Map.of(
                "gen_ai.agent.name",
                subagent.map(id -> "subagent:" + id).orElse(session.agentKind),
                "gen_ai.tool.type",
                "function");
        Map<String, Object> metadata = nativeMetadata(session, hook);
        metadata.putAll(agent);
        metadata.put("nemo_relay.tool.execution.defaults", agent);
        return metadata;
    }

    private static Map<String, Object> nativeMetadata(Session session, HookPayload hook) {
        Map<String, Object> metadata = new LinkedHashMap<>(hook.metadata());
        metadata.put("session_id", session.id);
        metadata.put("turn_id", session.turn.isPresent() ? Integer.toString(session.turnIndex) : "0");
        metadata.put("harness", session.agentKind);
        metadata.put("source", "hook");
        metadata.put("identity_quality", "native");
        return metadata;
    }

    private void subagentStart(Instant now, Session session, HookPayload hook) {
        openBetweenTurns(now, session, hook.metadata());
        String id = hook.subagentId().orElse("unknown");
        if (session.subagents.containsKey(id)) {
            return;
        }
        Map<String, Object> metadata = scopeMetadata(session, hook.metadata());
        metadata.put("nemo_relay_scope_role", "subagent");
        String uuid = scopes.newId();
        boolean task = session.outer.isPresent() && !session.spansTurns();
        session.subagents.put(
                id,
                scopes.start(
                        now,
                        uuid,
                        task ? session.outer.get().uuid() : session.top(),
                        session.outer.isPresent() ? session.propagationRoot() : uuid,
                        "subagent:" + id,
                        "agent",
                        null,
                        hook.json(),
                        metadata));
    }

    private void subagentStop(Instant now, Session session, HookPayload hook) {
        Scope subagent = session.subagents.remove(hook.subagentId().orElse("unknown"));
        if (subagent != null) {
            scopes.end(now, subagent, null, hook.json(), subagent.metadataWith(hook.metadata()));
        } else if (hook.agent() != HookAgent.CLAUDE_CODE || session.turn.isPresent()) {
            mark(now, session, "subagent_end_without_start", hook);
        }
    }

    private Map<String, Object> scopeMetadata(Session session, Map<String, Object> event) {
        Map<String, Object> metadata = new LinkedHashMap<>(session.metadata);
        metadata.putAll(event);
        metadata.put("session_id", session.id);
        metadata.put("session_instance_id", session.instanceId);
        metadata.put("agent_kind", session.agentKind);
        metadata.put("plugin_config", pluginConfig.get());
        return metadata;
    }

    private Session sessionOf(HookPayload hook) {
        String id = hook.sessionId().orElseGet(() -> "hook-" + scopes.newId());
        return sessions.computeIfAbsent(
                id, absent -> newSession(id, hook.agent().word(), hook.metadata(), false));
    }

    private Session sessionOf(ObservedRequest request) {
        ModelApi api = request.api();
        Optional<String> named = namedSession(request);
        if (named.isPresent()) {
            return sessions.computeIfAbsent(named.get(), id -> gatewaySession(id, agentKind(request), false));
        }
        return switch (sessions.size()) {
            case 0 -> sessions.computeIfAbsent("gateway-gateway", id -> gatewaySession(id, api.agentKind(), false));
            case 1 -> sessions.values().iterator().next();
            default ->
                sessions.computeIfAbsent(
                        "gateway-isolated-" + scopes.newId(), id -> gatewaySession(id, api.agentKind(), true));
        };
    }

    /** The session that the head names. Codex and Pi have a header for it on the OpenAI APIs, Claude Code on its own. */
    private static Optional<String> namedSession(ObservedRequest request) {
        Map<String, String> headers = request.headers();
        return Optional.ofNullable(headers.get("x-nemo-relay-session-id"))
                .or(() -> request.api() == ModelApi.OPENAI_RESPONSES
                        ? Optional.empty()
                        : Optional.ofNullable(headers.get("x-claude-code-session-id")))
                .or(() -> request.api() == ModelApi.ANTHROPIC_MESSAGES
                        ? Optional.empty()
                        : Optional.ofNullable(headers.get("session-id")));
    }

    /** Who calls, by its own word, else who usually calls that API. */
    private static String agentKind(ObservedRequest request) {
        String userAgent = request.headers().getOrDefault("user-agent", "");
        if (userAgent.startsWith("pi/")) {
            return HookAgent.PI.word();
        }
        return userAgent.startsWith("codex")
                ? HookAgent.CODEX.word()
                : request.api().agentKind();
    }

    private Session gatewaySession(String id, String agentKind, boolean isolated) {
        Map<String, Object> metadata = new HashMap<>();
        metadata.put("gateway_config_profile", null);
        metadata.put("gateway_mode", null);
        return newSession(id, agentKind, metadata, isolated);
    }

    private Session newSession(String id, String agentKind, Map<String, Object> metadata, boolean isolated) {
        return new Session(id, scopes.newId(), agentKind, metadata, isolated);
    }

    private Map<String, Object> observable(Session session, Map<String, String> headers) {
        Map<String, Object> observable = new TreeMap<>();
        headers.forEach((name, value) -> {
            if (!CREDENTIALS.contains(name) && !TRANSPORT.contains(name) && !name.startsWith("x-nemo-relay-")) {
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
