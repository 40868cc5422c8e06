package org.nemorelay.worker.internal.hook;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.HookEvent;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.pluginhost.Judgement;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.protocol.HookAgent;

/**
 * The hooks by which an agent asks whether it may call a tool, and the word that stops it in each agent's own form
 * (plugins.md 4.3, 5). Stateless.
 */
public final class ToolGate {
    private static final Set<String> GATES =
            Set.of("pretooluse", "permissionrequest", "pretoolcall", "toolcall", "userbash");
    private static final String REJECTED = "nemo_relay_guardrail_rejected";

    /** What a hook is answered. */
    public record Answer(int status, String body) {}

    /** What a hook wants policies to say. */
    public sealed interface Question {
        /** Nothing: it tells of something else than a call that is about to be made. */
        record None() implements Question {}

        record Call(ToolCall call) implements Question {}

        /**
         * It may be about a call, and cannot be read. What a policy cannot read, it cannot allow.
         *
         * @param why ends a sentence that begins with "it"
         */
        record Unreadable(String why) implements Question {}
    }

    private ToolGate() {}

    /**
     * What a hook asks. An event that the agent is not known to have counts as a question where anything in it belongs to a
     * tool call.
     */
    public static Question questionOf(HookPayload hook) {
        if (!(hook.json() instanceof Map<?, ?>)) {
            return new Question.Unreadable("is no JSON object");
        }
        if (!hook.namesItsEvent()) {
            return new Question.Unreadable("does not name its event");
        }
        if (hook.namesAnotherEvent()
                || hook.eventWords().stream()
                        .anyMatch(word -> GATES.contains(word) && !word.equals(hook.eventWord()))) {
            return new Question.Unreadable("names several events");
        }
        if (hook.eventWords().stream().noneMatch(GATES::contains) && (known(hook) || !hook.mentionsTool())) {
            return new Question.None();
        }
        List<Optional<String>> names = List.copyOf(hook.toolNames());
        if (names.size() != 1 || names.getFirst().isEmpty()) {
            return new Question.Unreadable(names.size() > 1 ? "names several tools" : "does not name its tool");
        }
        List<Object> arguments = List.copyOf(hook.argumentSets());
        if (arguments.size() > 1) {
            return new Question.Unreadable("gives its tool several arguments");
        }
        return new Question.Call(new ToolCall(
                agentOf(hook.agent()),
                hook.eventName(),
                names.getFirst().get(),
                hook.toolCallId(),
                arguments.isEmpty() ? Map.of() : arguments.getFirst(),
                JsonObject.of(hook.json(), "")));
    }

    /** Whether it is one of the agent's events, so that it is known to ask nothing unless it is a gate. */
    private static boolean known(HookPayload hook) {
        return switch (HookEvent.of(agentOf(hook.agent()), hook.eventName(), JsonObject.of(hook.json(), ""))) {
            case HookEvent.Codex event -> event.type() != HookEvent.Codex.Type.UNKNOWN;
            case HookEvent.ClaudeCode event ->
                switch (event.type()) {
                    // It comes before a command, in a form that was never seen here.
                    case PRE_SKILL_SHELL_COMMAND, UNKNOWN -> false;
                    default -> true;
                };
            case HookEvent.Pi event -> event.type() != HookEvent.Pi.Type.UNKNOWN;
        };
    }

    /** The ruling as the agent can carry it out: where it cannot be told to ask its user, a question is a denial. */
    public static Ruling settled(HookPayload hook, Ruling ruling) {
        if (ruling.question().isEmpty() || asks(hook) || permission(hook)) {
            return ruling;
        }
        List<Judgement> judgements = new ArrayList<>();
        for (Judgement judgement : ruling.judgements()) {
            if (judgement.question().isPresent()) {
                judgements.add(new Judgement(
                        judgement.plugin(),
                        judgement.begun(),
                        judgement.ended(),
                        new Judgement.Verdict.Denied(judgement.question().get())));
                break;
            }
            judgements.add(judgement);
        }
        return new Ruling(judgements);
    }

    /** What the hook is answered. */
    public static Answer answer(HookPayload hook, Ruling ruling) {
        if (ruling.denial().isPresent()) {
            return denial(hook, ruling.denial().get());
        }
        if (ruling.question().isPresent() && asks(hook)) {
            return new Answer(
                    200,
                    Json.write(Json.object(
                            "continue",
                            true,
                            "hookSpecificOutput",
                            Json.object(
                                    "hookEventName", "PreToolUse",
                                    "permissionDecision", "ask",
                                    "permissionDecisionReason",
                                            ruling.question().get()))));
        }
        return new Answer(200, hook.agent().allowAnswer());
    }

    private static boolean asks(HookPayload hook) {
        return hook.agent() == HookAgent.CLAUDE_CODE && hook.eventWord().equals("pretooluse");
    }

    /** The agent is about to ask already. */
    private static boolean permission(HookPayload hook) {
        return hook.agent() != HookAgent.PI
                && hook.namesItsEvent()
                && hook.eventWord().equals("permissionrequest");
    }

    /**
     * Stops the call. Codex and Claude Code are asked for permission in a form of its own; any other gate is the hook
     * process's to close, which the status tells it to do. Codex drops a whole answer for one key that it does not know.
     */
    private static Answer denial(HookPayload hook, String reason) {
        if (!permission(hook)) {
            return new Answer(
                    403,
                    Json.write(Map.of(
                            "error",
                            Json.object(
                                    "message", "NeMo Relay runtime error: guardrail rejected: " + reason,
                                    "reason", reason,
                                    "type", REJECTED))));
        }
        Map<String, Object> answer = new TreeMap<>();
        answer.put(
                "hookSpecificOutput",
                Json.object(
                        "decision",
                        Json.object("behavior", "deny", "message", reason),
                        "hookEventName",
                        "PermissionRequest"));
        if (hook.agent() == HookAgent.CLAUDE_CODE) {
            answer.put("continue", true);
        }
        return new Answer(200, Json.write(answer));
    }

    private static ToolCall.Agent agentOf(HookAgent agent) {
        return switch (agent) {
            case CODEX -> ToolCall.Agent.CODEX;
            case CLAUDE_CODE -> ToolCall.Agent.CLAUDE_CODE;
            case PI -> ToolCall.Agent.PI;
        };
    }
}
