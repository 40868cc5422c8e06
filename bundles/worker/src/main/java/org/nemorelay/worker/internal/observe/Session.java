package org.nemorelay.worker.internal.observe;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.worker.internal.observe.Answers.ToolCall;

/** What is open in one session of a harness (plugins.md 1.7). Owned by the dispatcher thread. */
final class Session {
    /** A tool call that a model asked for and no hook has begun yet. */
    record ToolHint(String source, ToolCall call) {}

    /** The uuid of the session's implicit root, for which there is no event. */
    final String instanceId;

    final String id;
    final String agentKind;

    /** What every session and turn scope says, before the event at hand adds its own. */
    final Map<String, Object> metadata;

    /** Opened for one model request that belongs to no session anybody knows. */
    final boolean isolated;

    final Set<ModelCall> calls = new LinkedHashSet<>();
    final Map<String, Scope> tools = new LinkedHashMap<>();
    final Map<String, Scope> subagents = new LinkedHashMap<>();
    final Map<String, ToolHint> toolHints = new HashMap<>();
    final List<String> callHints = new ArrayList<>();

    /** Agents of which a request has told the conversation so far: later ones record what is new (plugins.md 1.6). */
    final Set<String> told = new HashSet<>();

    /** {@code session.start} that waits for the scope it goes under. */
    Optional<Map<String, Object>> pendingStart = Optional.empty();

    Optional<Scope> outer = Optional.empty();
    Optional<Scope> turn = Optional.empty();
    int turnIndex;
    boolean turnHasPrompt;
    Optional<Object> lastAnswer = Optional.empty();
    Instant lastActivity = Instant.EPOCH;

    Session(String id, String instanceId, String agentKind, Map<String, Object> metadata, boolean isolated) {
        this.id = id;
        this.instanceId = instanceId;
        this.agentKind = agentKind;
        this.metadata = metadata;
        this.isolated = isolated;
    }

    /** Codex and Claude Code sessions consist of turns; for all others a scope spans the session. */
    boolean spansTurns() {
        return !agentKind.equals("codex") && !agentKind.equals("claude-code");
    }

    /** What the next scope of the session goes under. */
    String top() {
        return turn.or(() -> outer).map(Scope::uuid).orElse(instanceId);
    }

    String propagationRoot() {
        return outer.map(Scope::uuid).orElse(instanceId);
    }

    /** The outermost scope that has an event. */
    String rootScope() {
        return outer.or(() -> turn).map(Scope::uuid).orElse(instanceId);
    }

    boolean idle() {
        return calls.isEmpty() && tools.isEmpty() && subagents.isEmpty();
    }
}
