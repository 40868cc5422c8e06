package org.nemorelay.plugin.toolpolicy.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.api.ToolCall;

class ToolPolicyTest {
    @ParameterizedTest
    @EnumSource
    void listedToolsAreDeniedWhateverTheirCase(ToolCall.Agent agent) throws Exception {
        ToolPolicy policy = policy("Bash", "mcp__files__write");
        assertEquals(
                Decision.deny("the administrator's tool policy denies the tool Bash"), decision(policy, agent, "Bash"));
        assertEquals(
                Decision.deny("the administrator's tool policy denies the tool mcp__files__write"),
                decision(policy, agent, "mcp__files__write"));
        for (String same : new String[] {"bash", "Bash ", "BASH", "\uff22ash", "Ba\u200bsh"}) {
            assertEquals(
                    Decision.deny("the administrator's tool policy denies the tool " + same),
                    decision(policy, agent, same));
        }
        for (String other : new String[] {"BashOutput", "Read", "mcp__files__read"}) {
            assertEquals(Decision.allow(), decision(policy, agent, other));
        }
    }

    @Test
    void anEmptyListDeniesNothing() throws Exception {
        assertEquals(Decision.allow(), decision(policy(), ToolCall.Agent.PI, "bash"));
    }

    @Test
    void whatItCannotUseIsRefusedByName() {
        assertEquals(
                "deny: missing; write an array of tool names, such as [\"Bash\"], or [[components.config.rules]]",
                refusal(Map.of()));
        assertEquals(
                "version: 2 is not supported, write version = 1",
                refusal(Map.of("version", 2L, "deny", new String[0])));
        assertEquals(
                "allow: unknown key; known here: version, deny, rules, default, surfaces",
                refusal(Map.of("deny", new String[0], "allow", new String[] {"Read"})));
        assertEquals("deny: must be an array of strings", refusal(Map.of("deny", "Bash")));
        assertEquals(
                "deny: \" Bash\" is blank or has blanks around it, so it matches nothing",
                refusal(Map.of("deny", new String[] {" Bash"})));
    }

    private static String refusal(Map<String, Object> config) {
        return assertThrows(PluginConfigException.class, () -> new ToolPolicy(config))
                .getMessage();
    }

    private static ToolPolicy policy(String... deny) {
        return new ToolPolicy(Map.of("version", 1L, "deny", deny));
    }

    private static Decision decision(ToolPolicy policy, ToolCall.Agent agent, String tool) throws Exception {
        ToolCall call =
                new ToolCall(agent, "PreToolUse", tool, Optional.empty(), Map.of(), JsonObject.of(Map.of(), ""));
        return policy.decide(call).toCompletableFuture().get();
    }
}
