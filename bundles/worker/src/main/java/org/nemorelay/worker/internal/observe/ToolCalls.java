package org.nemorelay.worker.internal.observe;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.nemorelay.pluginhost.Judgement;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.worker.internal.hook.HookPayload;
import org.nemorelay.worker.internal.observe.Session.ToolHint;

/**
 * What tool calls leave in the record: what policies said to them, their scopes, the skills they load (plugins.md 1.7).
 * Owned by one thread.
 */
final class ToolCalls {
    private final Scopes scopes;
    private final Turns turns;

    ToolCalls(Scopes scopes, Turns turns) {
        this.scopes = scopes;
        this.turns = turns;
    }

    /** A tool call that the agent asks about: what policies said to it, and its scope unless they stop it. */
    void asked(Instant now, Session session, HookPayload hook, Ruling ruling) {
        guardrails(session, hook, ruling);
        if (ruling.denial().isPresent()) {
            Map<String, Object> rejected =
                    Map.of("rejected", true, "rejection_reason", ruling.denial().get());
            Map<String, Object> metadata = callMetadata(session, hook);
            scopes.mark(now, parent(session, hook), session.propagationRoot(), hook.toolName(), rejected, metadata);
        } else {
            begin(now, session, hook);
        }
    }

    /** The agent may ask about a call whose scope is open; a denial then ends that. */
    void permission(Instant now, Session session, HookPayload hook, Ruling ruling) {
        guardrails(session, hook, ruling);
        turns.mark(now, session, "hook_mark", hook);
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
                parent(session, hook),
                session.propagationRoot(),
                "nemo_relay.permission.policy_decision",
                decision,
                nativeMetadata(session, hook));
        if (denial.isPresent()) {
            Optional<String> open = open(session, hook);
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
    private static Optional<String> open(Session session, HookPayload hook) {
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

    void guardrails(Session session, HookPayload hook, Ruling ruling) {
        for (Judgement judgement : ruling.judgements()) {
            turns.openBetweenTurns(judgement.begun(), session, hook.metadata());
            Map<String, Object> metadata = callMetadata(session, hook);
            Scope scope = scopes.start(
                    judgement.begun(),
                    scopes.newId(),
                    parent(session, hook),
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

    private static String parent(Session session, HookPayload hook) {
        return hook.subagentId().map(session.subagents::get).map(Scope::uuid).orElseGet(session::top);
    }

    void skillExpanded(Instant now, Session session, HookPayload hook) {
        Optional<String> skill = Stream.of("skill_name", "command_name", "command", "name")
                .flatMap(key -> hook.text(key).stream())
                .findFirst();
        if (skill.isEmpty()) {
            turns.mark(now, session, "hook_mark", hook);
            return;
        }
        turns.openBetweenTurns(now, session, hook.metadata());
        Map<String, Object> metadata = new LinkedHashMap<>(hook.metadata());
        metadata.put("skill_load_source", "prompt_expansion");
        metadata.put("inferred", true);
        hook.text("command_source").ifPresent(source -> metadata.put("command_source", source));
        Map<String, Object> data = Map.of("skill_name", SkillLoads.plain(skill.get()));
        scopes.mark(now, session.top(), session.propagationRoot(), "skill.load.inferred", data, metadata);
    }

    private void begin(Instant now, Session session, HookPayload hook) {
        String name = hook.toolName();
        Optional<String> given = hook.toolCallId();
        if (given.isPresent() && session.tools.containsKey(given.get())) {
            return;
        }
        turns.openBetweenTurns(now, session, hook.metadata());
        String id = given.orElseGet(() -> "tool-" + scopes.newId());
        Optional<String> subagent = hook.subagentId().filter(session.subagents::containsKey);
        Map<String, Object> metadata = metadata(session, hook, subagent);
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
                parent(session, hook),
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

    void end(Instant now, Session session, HookPayload hook, boolean failed) {
        Scope tool = hook.toolCallId().map(session.tools::remove).orElse(null);
        if (tool == null) {
            // Nothing began it, so there is no duration to tell.
            endAlone(now, session, hook, failed);
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

    private void endAlone(Instant now, Session session, HookPayload hook, boolean failed) {
        turns.openBetweenTurns(now, session, hook.metadata());
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("arguments", hook.toolArguments());
        data.put("result", hook.toolResult(failed));
        data.put("status", hook.toolStatus().orElse(null));
        data.put("subagent_id", hook.subagentId().orElse(null));
        data.put("tool_call_id", hook.toolCallId().orElse(null));
        data.put("tool_name", hook.toolName());
        Map<String, Object> metadata = turns.scopeMetadata(session, hook.metadata());
        metadata.putAll(metadata(session, hook, Optional.empty()));
        metadata.put("start_observed", false);
        scopes.mark(now, session.top(), session.propagationRoot(), "tool_end_without_start", data, metadata);
    }

    /** What every record of a tool call says of the agent that makes it. */
    private static Map<String, Object> metadata(Session session, HookPayload hook, Optional<String> subagent) {
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
}
