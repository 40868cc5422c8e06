package org.nemorelay.worker.internal.observe;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.protocol.HookAgent;
import org.nemorelay.worker.internal.hook.HookPayload;

/**
 * What a coding agent's session leaves in the record (plugins.md 1.7): sessions, turns, model calls, tool calls and marks,
 * in the order in which traffic came. Owned by one thread; no I/O, the time is passed in.
 */
final class SessionEvents {
    static final Duration IDLE_TURN = Duration.ofSeconds(30);

    private static final int MAX_SESSIONS = 256;

    private final Scopes scopes;
    private final Turns turns;
    private final ToolCalls tools;
    private final ModelCalls calls;
    private final Map<String, Session> sessions = new LinkedHashMap<>();

    /** @param pluginConfig the plugins.toml in force as of now, as session and turn scopes repeat it */
    SessionEvents(Scopes scopes, Supplier<Map<String, Object>> pluginConfig) {
        this.scopes = scopes;
        this.turns = new Turns(scopes, pluginConfig);
        this.tools = new ToolCalls(scopes, turns);
        this.calls = new ModelCalls(scopes, pluginConfig);
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
            turns.openTurn(
                    request.time(),
                    session,
                    prompt.isPresent() ? "gateway_request" : "implicit",
                    prompt.map(text -> Map.of("prompt", text)).orElse(null),
                    prompt.isPresent() ? Map.of("gateway_path", request.path()) : Map.of());
        }
        return session;
    }

    /** A model request is sent on. Where nobody has read its body, the record has the head only. */
    ModelCall callStarted(ObservedRequest request) {
        return calls.started(requestedIn(request), request);
    }

    /** A model request that plugins did not let pass. */
    void callRefused(ObservedRequest request, List<Clearance.Check> checks) {
        calls.refused(requestedIn(request), request, checks);
    }

    /** The tools that the answer asks for are known, though the answer may go on. */
    void answerRead(ModelCall call, CallResult result) {
        calls.answerRead(call, result);
    }

    /** A model request is over. */
    void callEnded(Instant now, ModelCall call, CallResult result) {
        Session session = call.session();
        if (calls.ended(now, call, result) && session.isolated) {
            turns.closeTurn(now, session, "uncorrelated_gateway_call_complete", Optional.empty(), Map.of());
            turns.closeOuter(now, session, "uncorrelated_gateway_call_complete");
            sessions.remove(session.id);
        }
    }

    /** Ends the turns in which nothing has happened and nothing runs; forgets the oldest sessions beyond a number. */
    void sweep(Instant now) {
        for (Session session : sessions.values()) {
            if (session.turn.isPresent()
                    && session.idle()
                    && session.lastActivity.plus(IDLE_TURN).isBefore(now)) {
                turns.closeTurn(now, session, "idle_timeout", Optional.empty(), Map.of());
                turns.closeTask(now, session, "idle_timeout");
            }
        }
        int surplus = sessions.size() - MAX_SESSIONS;
        for (Session session : surplus > 0 ? List.copyOf(sessions.values()) : List.<Session>of()) {
            if (surplus > 0 && session.turn.isEmpty() && session.idle()) {
                turns.closeOuter(now, session, "idle_timeout");
                sessions.remove(session.id);
                surplus--;
            }
        }
    }

    /** Ends everything that is open. */
    void close(Instant now, String reason) {
        for (Session session : sessions.values()) {
            turns.closeTurn(now, session, reason, Optional.empty(), Map.of());
            turns.closeOpen(now, session, reason);
            turns.closeOuter(now, session, reason);
        }
        sessions.clear();
    }

    private void turnAgentHook(Instant now, Session session, HookPayload hook, Ruling ruling) {
        switch (hook.eventWord()) {
            case "sessionstart" -> {
                Map<String, Object> metadata = turns.scopeMetadata(session, hook.metadata());
                if (session.agentKind.equals("codex") && session.outer.isEmpty()) {
                    session.pendingStart = Optional.of(metadata);
                } else {
                    turns.startMark(now, session, metadata);
                }
            }
            case "userpromptsubmit" -> prompt(now, session, hook);
            case "userpromptexpansion" -> tools.skillExpanded(now, session, hook);
            case "pretooluse" -> tools.asked(now, session, hook, ruling);
            case "permissionrequest" -> tools.permission(now, session, hook, ruling);
            case "posttooluse" -> tools.end(now, session, hook, false);
            case "posttoolusefailure", "permissiondenied" -> tools.end(now, session, hook, true);
            case "subagentstart" -> subagentStart(now, session, hook);
            case "subagentstop" -> subagentStop(now, session, hook);
            case "precompact", "postcompact" -> compaction(now, session, hook);
            case "notification" -> turns.mark(now, session, "notification", hook);
            case "stop" -> {
                turns.closeTurn(now, session, "closed_by_turn_end", Optional.ofNullable(hook.json()), hook.metadata());
                turns.closeTask(now, session, "completed");
            }
            case "sessionend" -> {
                turns.closeTurn(now, session, "closed_by_agent_end", Optional.empty(), Map.of());
                turns.closeOuter(now, session, "closed_by_agent_end");
                sessions.remove(session.id);
            }
            default -> otherHook(now, session, hook, ruling);
        }
    }

    private void piHook(Instant now, Session session, HookPayload hook, Ruling ruling) {
        switch (hook.eventWord()) {
            case "sessionstart" -> {
                turns.openOuter(now, session, hook.metadata());
                turns.startMark(now, session, turns.scopeMetadata(session, hook.metadata()));
            }
            case "sessionshutdown" -> {
                if (hook.json() instanceof Map<?, ?> payload && "reload".equals(payload.get("reason"))) {
                    return;
                }
                turns.closeTurn(now, session, "closed_by_agent_end", Optional.empty(), Map.of());
                turns.closeOpen(now, session, "closed_by_agent_end");
                session.outer.ifPresent(
                        scope -> scopes.end(now, scope, null, hook.json(), scope.metadataWith(hook.metadata())));
                sessions.remove(session.id);
            }
            case "turnstart" -> prompt(now, session, hook);
            case "turnend" ->
                turns.closeTurn(now, session, "closed_by_turn_end", Optional.ofNullable(hook.json()), hook.metadata());
            case "toolcall", "userbash" -> tools.asked(now, session, hook, ruling);
            case "toolexecutionend" -> tools.end(now, session, hook, false);
            case "userbashend" -> tools.end(now, session, hook, false);
            case "sessioncompact" -> compaction(now, session, hook);
            default -> otherHook(now, session, hook, ruling);
        }
    }

    private void prompt(Instant now, Session session, HookPayload hook) {
        boolean tasks = session.agentKind.equals(HookAgent.CODEX.word());
        if (session.turn.isPresent() && !session.turnHasPrompt && !tasks) {
            // The model request came first and opened the turn.
            session.turnHasPrompt = true;
            turns.mark(now, session, "prompt_submitted", hook);
        } else {
            turns.closeTurn(now, session, "superseded_by_next_turn", Optional.empty(), Map.of());
            turns.closeTask(now, session, "superseded_by_next_task");
            turns.openTurn(now, session, "user_prompt", hook.json(), hook.metadata());
        }
        session.callHints.clear();
        session.callHints.add(hook.eventName());
    }

    /** An event of no meaning of its own; policies may have denied one that they could not read. */
    private void otherHook(Instant now, Session session, HookPayload hook, Ruling ruling) {
        tools.guardrails(session, hook, ruling);
        turns.mark(now, session, "hook_mark", hook);
    }

    private void compaction(Instant now, Session session, HookPayload hook) {
        turns.mark(now, session, "compaction", hook);
        // The agent whose conversation it is tells it anew; its subagents have conversations of their own.
        session.told.remove(
                hook.subagentId().map(session.subagents::get).map(Scope::uuid).orElse(session.instanceId));
    }

    private void subagentStart(Instant now, Session session, HookPayload hook) {
        turns.openBetweenTurns(now, session, hook.metadata());
        String id = hook.subagentId().orElse("unknown");
        if (session.subagents.containsKey(id)) {
            return;
        }
        Map<String, Object> metadata = turns.scopeMetadata(session, hook.metadata());
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
            turns.mark(now, session, "subagent_end_without_start", hook);
        }
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
}
