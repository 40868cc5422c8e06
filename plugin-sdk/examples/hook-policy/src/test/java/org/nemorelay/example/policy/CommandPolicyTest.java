package org.nemorelay.example.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.api.Test;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.plugin.testkit.PluginRig;
import org.nemorelay.plugin.testkit.ToolCalls;

class CommandPolicyTest {
    private final CommandPolicy policy = new CommandPolicy(
            Map.of("deny", new String[] {"\\brm\\s+-rf\\b"}, "ask", new String[] {"^git push"}));

    @ParameterizedTest
    @EnumSource
    void commandsAreDeniedAskedAboutOrAllowed(ToolCall.Agent agent) {
        try (PluginRig rig = PluginRig.of(policy)) {
            assertEquals(
                    Decision.deny("commands like \\brm\\s+-rf\\b are not allowed here, ask your administrator"),
                    rig.decide(ToolCalls.shell(agent, "cd / && rm -rf *")));
            assertEquals(
                    Decision.ask("this command is one like ^git push"),
                    rig.decide(ToolCalls.shell(agent, "git push origin")));
            assertEquals(Decision.allow(), rig.decide(ToolCalls.shell(agent, "ls")));
        }
    }

    @Test
    void aPatternThatIsNoneIsNamed() {
        var failure = assertThrows(
                PluginConfigException.class, () -> new CommandPolicy(Map.of("deny", new String[] {"("})));
        assertEquals("deny", failure.key());
    }
}
