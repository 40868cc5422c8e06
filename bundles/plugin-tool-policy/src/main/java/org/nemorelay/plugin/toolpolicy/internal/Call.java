package org.nemorelay.plugin.toolpolicy.internal;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ToolCall;

/**
 * A tool call as rules see it, from a hook or from a model's answer.
 *
 * @param agent empty where an answer's agent is not known
 * @param names by which rules may mean it, the agent's own first
 * @param commands that it would run, as the shell gets them
 * @param paths that it names, absolute where the working folder is known
 * @param runs whether it may reach files that {@code paths} does not name
 * @param sure whether name and arguments can be told for sure
 * @param commandsSure whether these are all commands
 * @param pathsSure whether these are all paths, and where they lead
 */
record Call(
        Optional<ToolCall.Agent> agent,
        List<String> names,
        List<String> commands,
        List<String> paths,
        boolean runs,
        boolean sure,
        boolean commandsSure,
        boolean pathsSure) {
    /** What Codex calls its shell towards the model; its hooks say Bash. */
    private static final Set<String> CODEX_SHELLS =
            Set.of("exec_command", "write_stdin", "shell", "local_shell", "shell_command", "container.exec");

    private static final Set<String> SHELLS = Set.of("Bash", "bash", "user_bash");

    static Call of(ToolCall call) {
        boolean object = call.input() instanceof Map<?, ?>;
        return of(
                Optional.of(call.agent()),
                List.of(call.tool()),
                call.input(),
                object,
                call.hook().cwd());
    }

    /**
     * A call that a model asks for.
     *
     * @param sure whether that is all of its name and arguments
     */
    static Call of(ModelRequest request, List<String> names, Object input, boolean sure) {
        return of(agentOf(request), names, input, sure, Optional.empty());
    }

    private static Call of(
            Optional<ToolCall.Agent> agent, List<String> names, Object input, boolean sure, Optional<String> cwd) {
        Set<String> all = new LinkedHashSet<>(names);
        if (names.stream().anyMatch(CODEX_SHELLS::contains)) {
            all.add("Bash");
        }
        boolean shell = all.stream().anyMatch(SHELLS::contains);
        Arguments arguments = new Arguments(all, shell, input);
        Places places = new Places(arguments, cwd);
        return new Call(
                agent,
                List.copyOf(all),
                List.copyOf(arguments.commands()),
                places.paths(),
                arguments.runs(),
                sure,
                sure && !(shell && arguments.commands().isEmpty()),
                sure && places.sure());
    }

    private static Optional<ToolCall.Agent> agentOf(ModelRequest request) {
        String client = request.headers().first("user-agent").orElse("");
        if (client.startsWith("codex") || request.headers().has("originator")) {
            return Optional.of(ToolCall.Agent.CODEX);
        }
        if (client.startsWith("claude-cli") || request.headers().has("x-claude-code-session-id")) {
            return Optional.of(ToolCall.Agent.CLAUDE_CODE);
        }
        return client.startsWith("pi") ? Optional.of(ToolCall.Agent.PI) : Optional.empty();
    }
}
