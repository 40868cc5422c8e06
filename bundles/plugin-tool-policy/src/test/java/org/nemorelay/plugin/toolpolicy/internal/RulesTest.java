package org.nemorelay.plugin.toolpolicy.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.plugin.api.ToolCall.Agent;
import org.nemorelay.plugin.testkit.ToolCalls;

/** Rules by agent, tool, command and path; the first that matches decides. */
class RulesTest {
    private static ToolPolicy policy(Object... keysAndValues) {
        Map<String, Object> config = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            config.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return new ToolPolicy(config);
    }

    private static String[] list(String... items) {
        return items;
    }

    private static Decision decide(ToolPolicy policy, ToolCall call) {
        return policy.decide(call).toCompletableFuture().join();
    }

    @Test
    void theFirstRuleThatMatchesDecides() {
        ToolPolicy policy = policy(
                "rules.0.action", "allow",
                "rules.0.agents", list("codex"),
                "rules.0.commands", list("^git status$"),
                "rules.1.action", "ask",
                "rules.1.tools", list("Bash"),
                "rules.1.commands", list("^git "),
                "rules.1.reason", "git changes history",
                "rules.2.action", "deny",
                "rules.2.tools", list("Bash", "mcp__github__*"));
        assertEquals(Decision.allow(), decide(policy, ToolCalls.shell(Agent.CODEX, "git status")));
        assertEquals(
                Decision.ask("git changes history"), decide(policy, ToolCalls.shell(Agent.CLAUDE_CODE, "git status")));
        assertEquals(
                Decision.deny("the administrator's tool policy denies the tool Bash"),
                decide(policy, ToolCalls.shell(Agent.CODEX, "ls")));
        assertEquals(
                Decision.deny("the administrator's tool policy denies the tool mcp__github__push"),
                decide(policy, ToolCalls.of(Agent.CODEX, "mcp__github__push", Map.of())));
        assertEquals(Decision.allow(), decide(policy, ToolCalls.of(Agent.CODEX, "Read", Map.of())));
    }

    @Test
    void whatNoRuleNamesFollowsTheDefault() {
        ToolPolicy policy = policy("default", "deny", "rules.0.action", "allow", "rules.0.tools", list("Read"));
        assertEquals(Decision.allow(), decide(policy, ToolCalls.of(Agent.PI, "Read", Map.of())));
        assertEquals(
                Decision.deny("the administrator's tool policy denies the tool Write"),
                decide(policy, ToolCalls.of(Agent.PI, "Write", Map.of())));
    }

    @Test
    void pathsAreSeenWhereverToolsPutThem() {
        ToolPolicy policy = policy("rules.0.action", "deny", "rules.0.paths", list("/etc/**", "**/.env"));
        String denied = "the administrator's tool policy denies the tool T for this path";
        for (Object input : new Object[] {
            Map.of("file_path", "/etc/passwd"),
            Map.of("path", "/project/../etc/shadow"),
            Map.of("path", "../../etc/hosts"),
            Map.of("notebook_path", "sub/.env"),
            Map.of("edits", Arrays.asList(Map.of("path", "/etc/x"))),
            Map.of("input", "*** Begin Patch\n*** Update File: /etc/fstab\n@@\n*** End Patch"),
            Map.of("paths", Arrays.asList("/tmp/a", "/etc/a"))
        }) {
            @SuppressWarnings("unchecked")
            Map<String, Object> map = (Map<String, Object>) input;
            assertEquals(Decision.deny(denied), decide(policy, ToolCalls.of(Agent.CLAUDE_CODE, "T", map)), "" + input);
        }
        assertEquals(
                Decision.allow(), decide(policy, ToolCalls.of(Agent.CLAUDE_CODE, "T", Map.of("path", "etc/passwd"))));
    }

    @Test
    void commandsAsWordsAreOneCommand() {
        ToolPolicy policy = policy("rules.0.action", "deny", "rules.0.commands", list("rm\\s+-rf"));
        assertEquals(
                Decision.deny("the administrator's tool policy denies the tool shell with this command"),
                decide(
                        policy,
                        ToolCalls.of(
                                Agent.CODEX, "shell", Map.of("command", Arrays.asList("bash", "-lc", "rm -rf /")))));
    }

    @Test
    void whatItCannotUseIsRefusedByName() {
        assertEquals("rules.0.action: missing; write allow, deny or ask", refusal("rules.0.tools", list("x")));
        assertEquals("rules.0.action: \"no\" is not one of allow, deny, ask", refusal("rules.0.action", "no"));
        assertEquals(
                "rules.0.agents: \"me\" is not one of codex, claude-code, pi",
                refusal("rules.0.action", "deny", "rules.0.agents", list("me")));
        assertEquals(
                "rules.0.commands: \"(\" is no regular expression: Unclosed group",
                refusal("rules.0.action", "deny", "rules.0.commands", list("(")));
        assertEquals(
                "rules.0.commands: \"\" is blank, so it matches every command; write .* to mean that",
                refusal("rules.0.action", "allow", "rules.0.commands", list("")));
        assertEquals(
                "rules.0.tools: is empty; name something, or remove it to mean every call",
                refusal("rules.0.action", "deny", "rules.0.tools", list()));
        assertEquals("surfaces: \"x\" is not one of hooks, responses", refusal("deny", list(), "surfaces", list("x")));
        assertEquals("default: \"x\" is not one of allow, deny, ask", refusal("default", "x"));
    }

    private static String refusal(Object... keysAndValues) {
        return assertThrows(PluginConfigException.class, () -> policy(keysAndValues))
                .getMessage();
    }
}
