package org.nemorelay.worker.internal.observe;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.nemorelay.protocol.HookAgent;
import org.nemorelay.worker.internal.hook.HookPayload;

/**
 * What a session is divided into: the scopes of sessions, tasks and turns, and the marks in them (plugins.md 1.7). Owned by
 * one thread.
 */
final class Turns {
    private final Scopes scopes;
    private final Supplier<Map<String, Object>> pluginConfig;

    Turns(Scopes scopes, Supplier<Map<String, Object>> pluginConfig) {
        this.scopes = scopes;
        this.pluginConfig = pluginConfig;
    }

    /** What a mark or a tool needs around it: a turn, or the session's scope where turns are optional. */
    void openBetweenTurns(Instant now, Session session, Map<String, Object> event) {
        if (session.agentKind.equals(HookAgent.PI.word())) {
            openOuter(now, session, event);
        } else {
            openTurn(now, session, "implicit", null, event);
        }
    }

    void openTurn(Instant now, Session session, String source, Object data, Map<String, Object> event) {
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
    void openOuter(Instant now, Session session, Map<String, Object> event) {
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

    void startMark(Instant now, Session session, Map<String, Object> metadata) {
        String parent = session.outer.map(Scope::uuid).orElse(session.instanceId);
        scopes.mark(now, parent, session.propagationRoot(), "session.start", null, metadata);
    }

    void mark(Instant now, Session session, String name, HookPayload hook) {
        openBetweenTurns(now, session, hook.metadata());
        scopes.mark(now, session.top(), session.propagationRoot(), name, hook.json(), hook.metadata());
    }

    /** Ends the turn: with the model's last answer, else with what the hook said, else with the reason. */
    void closeTurn(Instant now, Session session, String reason, Optional<Object> payload, Map<String, Object> event) {
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

    void closeTask(Instant now, Session session, String status) {
        if (!session.spansTurns()) {
            closeOuter(now, session, status);
        }
    }

    void closeOuter(Instant now, Session session, String status) {
        session.outer.ifPresent(scope -> scopes.end(now, scope, null, Map.of("status", status), scope.metadata()));
        session.outer = Optional.empty();
    }

    /** Ends what runs inside a turn. */
    void closeOpen(Instant now, Session session, String reason) {
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

    Map<String, Object> scopeMetadata(Session session, Map<String, Object> event) {
        Map<String, Object> metadata = new LinkedHashMap<>(session.metadata);
        metadata.putAll(event);
        metadata.put("session_id", session.id);
        metadata.put("session_instance_id", session.instanceId);
        metadata.put("agent_kind", session.agentKind);
        metadata.put("plugin_config", pluginConfig.get());
        return metadata;
    }
}
