package org.nemorelay.worker.internal.hook;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.protocol.HookAgent;

/** The fields of a harness's hook, wherever that harness puts them (plugins.md 5). */
public record HookPayload(HookAgent agent, Object json) {
    private static final List<String> EVENT_KEYS =
            List.of("hook_event_name", "event_name", "eventName", "event", "type", "name");
    private static final List<String> SESSION_PATHS = List.of(
            "session_id",
            "sessionId",
            "session.id",
            "conversation_id",
            "conversationId",
            "parent_session_id",
            "task_id",
            "extra.session_id",
            "extra.task_id");
    private static final List<String> TOOL_IDS = List.of(
            "tool_call_id",
            "toolCallId",
            "tool_use_id",
            "call_id",
            "extra.tool_call_id",
            "extra.toolCallId",
            "extra.tool_use_id",
            "extra.call_id",
            "tool.id",
            "tool_input.id",
            "id");
    private static final List<String> TOOL_NAMES =
            List.of("tool_name", "toolName", "tool.name", "tool_input.name", "name");

    /** Where agents put the name; the other places above are guesses, good enough for a record. */
    private static final Set<String> SURE_TOOL_NAMES = Set.of("tool_name", "toolName");

    /** Keys of an event's name, of arguments, whoever spells them: without case and punctuation. */
    private static final Set<String> EVENT_WORDS = Set.of("hookeventname", "eventname");

    private static final Set<String> ARGUMENT_WORDS =
            Set.of("arguments", "args", "input", "toolinput", "toolarguments", "toolargs");

    /** What a tool call brings along, without case and punctuation. */
    private static final Set<String> TOOL_WORDS = Set.of(
            "tool",
            "toolname",
            "toolinput",
            "toolarguments",
            "toolargs",
            "tooluseid",
            "toolcallid",
            "callid",
            "arguments",
            "args",
            "command");

    private static final List<String> CLAUDE_ARGUMENTS = List.of("tool_input", "input", "arguments", "args");
    private static final List<String> ARGUMENTS = List.of("arguments", "args", "input", "tool_input");
    private static final List<String> RESULTS =
            List.of("tool_output", "tool_response", "output", "result", "extra.tool_output", "extra.result");
    private static final List<String> USER_BASH_ARGUMENTS = List.of("command", "cwd", "exclude_from_context");
    private static final List<String> FAILURE_KEYS = List.of("error", "reason", "is_interrupt", "duration_ms");
    private static final List<String> METADATA_KEYS =
            List.of("gateway_config_profile", "model", "agent_id", "agent_type");

    /** The event's name as the harness wrote it. */
    public String eventName() {
        return EVENT_KEYS.stream()
                .flatMap(key -> text(key).stream())
                .findFirst()
                .or(() -> EVENT_KEYS.stream()
                        .flatMap(key -> text("extra." + key).stream())
                        .findFirst())
                .orElse("unknown");
    }

    /** The event's name without case and punctuation. */
    public String eventWord() {
        return word(eventName());
    }

    /** Whether the event's name can be told for sure: it stands in the first of its places that is there at all. */
    boolean namesItsEvent() {
        return EVENT_KEYS.stream()
                .filter(this::has)
                .findFirst()
                .flatMap(this::text)
                .isPresent();
    }

    /** Every event that the hook may be, without case and punctuation. */
    List<String> eventWords() {
        return EVENT_KEYS.stream()
                .flatMap(key -> text(key).stream())
                .map(HookPayload::word)
                .toList();
    }

    /** Whether a key that can mean nothing else names another event than the one that the hook is taken for. */
    boolean namesAnotherEvent() {
        return members(json, EVENT_WORDS).entrySet().stream()
                .anyMatch(other ->
                        !(other.getValue() instanceof String text && word(text).equals(eventWord())));
    }

    /** Whether anything in it belongs to a tool call. */
    boolean mentionsTool() {
        return json instanceof Map<?, ?> map
                && map.keySet().stream().anyMatch(key -> TOOL_WORDS.contains(word(String.valueOf(key))));
    }

    /**
     * The names that the hook gives its tool, in the spelling of any agent; one that no agent writes so, or that is no text, is
     * empty.
     */
    Set<Optional<String>> toolNames() {
        Set<Optional<String>> names = new LinkedHashSet<>();
        if (userBash()) {
            names.add(text("command").map(command -> toolName()));
        }
        if (json instanceof Map<?, ?> map) {
            for (Object key : map.keySet()) {
                if (word(String.valueOf(key)).equals("toolname")) {
                    names.add(SURE_TOOL_NAMES.contains(key) ? text(String.valueOf(key)) : Optional.empty());
                }
            }
        }
        value("tool").filter(tool -> !(tool instanceof Map<?, ?>)).ifPresent(tool -> names.add(Optional.empty()));
        if (has("tool.name")) {
            names.add(text("tool.name"));
        }
        return names;
    }

    /** The different arguments that the hook gives its tool, in the spelling of any agent. */
    Set<Object> argumentSets() {
        Set<Object> sets = new LinkedHashSet<>();
        if (userBash()) {
            sets.add(toolArguments());
        }
        sets.addAll(members(json, ARGUMENT_WORDS).values());
        value("tool")
                .ifPresent(tool -> sets.addAll(members(tool, ARGUMENT_WORDS).values()));
        return sets;
    }

    /** The members whose keys are these words but for case and punctuation, and that are there. */
    private static Map<String, Object> members(Object table, Set<String> words) {
        Map<String, Object> members = new LinkedHashMap<>();
        if (table instanceof Map<?, ?> map) {
            map.forEach((key, value) -> {
                if (value != null && words.contains(word(String.valueOf(key)))) {
                    members.put(String.valueOf(key), value);
                }
            });
        }
        return members;
    }

    private static String word(String name) {
        StringBuilder word = new StringBuilder();
        for (char c : name.toLowerCase(Locale.ROOT).toCharArray()) {
            if (c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
                word.append(c);
            }
        }
        return word.toString();
    }

    public Optional<String> sessionId() {
        return first(SESSION_PATHS);
    }

    public Optional<String> toolCallId() {
        Optional<String> claudes = agent == HookAgent.CLAUDE_CODE ? text("tool_use_id") : Optional.empty();
        return claudes.or(() -> first(TOOL_IDS));
    }

    /** The tool's name as the agent writes it; {@code user_bash} for a command of Pi's user. */
    public String toolName() {
        return userBash() ? "user_bash" : first(TOOL_NAMES).orElse("unknown_tool");
    }

    /** The arguments; an empty object where there are none. */
    public Object toolArguments() {
        if (userBash()) {
            return picked(USER_BASH_ARGUMENTS);
        }
        return firstValue(agent == HookAgent.CLAUDE_CODE ? CLAUDE_ARGUMENTS : ARGUMENTS)
                .orElse(Map.of());
    }

    /** The result; null, JSON's, where there is none. */
    public Object toolResult(boolean failed) {
        if (!failed) {
            return firstValue(RESULTS).orElse(null);
        }
        Map<String, Object> failure = picked(FAILURE_KEYS);
        return failure.isEmpty() ? null : failure;
    }

    public Optional<Object> toolStatus() {
        Optional<Object> failed = value("isError").filter(Boolean.TRUE::equals).map(error -> "error");
        return firstValue(List.of("status", "decision", "permission")).or(() -> failed);
    }

    public Optional<String> subagentId() {
        return first(List.of("agent_id", "agentId", "subagent_id", "source.subagent.thread_spawn.agent_nickname"));
    }

    /** What of the hook goes into the metadata of every event that it causes. */
    public Map<String, Object> metadata() {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("agent_kind", agent.word());
        metadata.put("hook_event_name", eventName());
        for (String key : METADATA_KEYS) {
            value(key).ifPresent(value -> metadata.put(key, value));
        }
        return metadata;
    }

    /** A text of the payload by its key, with dots into tables; empty where it is absent, blank or no text. */
    public Optional<String> text(String path) {
        return value(path)
                .filter(value -> value instanceof String text && !text.isBlank())
                .map(String.class::cast);
    }

    private boolean userBash() {
        return agent == HookAgent.PI && eventWord().startsWith("userbash");
    }

    private Map<String, Object> picked(List<String> keys) {
        Map<String, Object> picked = new LinkedHashMap<>();
        for (String key : keys) {
            value(key).ifPresent(value -> picked.put(key, value));
        }
        return picked;
    }

    private Optional<String> first(List<String> paths) {
        return paths.stream().flatMap(path -> text(path).stream()).findFirst();
    }

    private Optional<Object> firstValue(List<String> paths) {
        return paths.stream().flatMap(path -> value(path).stream()).findFirst();
    }

    /** Whether there is anything at all, null included. */
    private boolean has(String path) {
        int dot = path.lastIndexOf('.');
        Object table = dot < 0 ? json : value(path.substring(0, dot)).orElse(null);
        return table instanceof Map<?, ?> map && map.containsKey(path.substring(dot + 1));
    }

    private Optional<Object> value(String path) {
        Object at = json;
        for (String key : path.split("\\.")) {
            at = at instanceof Map<?, ?> map ? map.get(key) : null;
        }
        return Optional.ofNullable(at);
    }
}
