package org.nemorelay.plugin.toolpolicy.internal;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginKind;
import org.nemorelay.plugin.api.ToolCall;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/**
 * The {@code tool_policy} component of plugins.toml: denies the tools that it lists, by exact name, to every agent.
 * Immutable; what the configuration may not hold is refused by name.
 */
@PluginKind(ToolPolicy.KIND)
@Component(
        service = HookPolicy.class,
        configurationPid = ToolPolicy.KIND,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class ToolPolicy implements HookPolicy {
    static final String KIND = "tool_policy";
    private static final long CONFIG_VERSION = 1;
    private static final List<String> PATTERN_CHARACTERS = List.of("*", "?", "(", ")", "|", "^", "$");

    private final Set<String> denied;

    @Activate
    public ToolPolicy(Map<String, ?> properties) {
        PluginConfig config = PluginConfig.of(properties).only("version", "deny");
        long version = config.integer("version", CONFIG_VERSION, 0, Long.MAX_VALUE);
        if (version != CONFIG_VERSION) {
            throw config.failure("version", version + " is not supported, write version = " + CONFIG_VERSION);
        }
        if (!config.has("deny")) {
            throw config.failure("deny", "missing; write an array of tool names, such as [\"Bash\"]");
        }
        List<String> names = config.strings("deny");
        names.forEach(name -> check(config, name));
        denied = Set.copyOf(names);
    }

    @Override
    public CompletionStage<Decision> decide(ToolCall call) {
        return CompletableFuture.completedStage(
                denied.contains(call.tool())
                        ? Decision.deny("the administrator's tool policy denies the tool " + call.tool())
                        : Decision.allow());
    }

    /** A name that matches nothing would switch the policy off without a word. */
    private static void check(PluginConfig config, String name) {
        if (name.isBlank() || !name.equals(name.strip())) {
            throw config.failure("deny", "\"" + name + "\" is no tool name, it is blank or has blanks around it");
        }
        if (PATTERN_CHARACTERS.stream().anyMatch(name::contains)) {
            throw config.failure(
                    "deny", "\"" + name + "\" looks like a pattern; this version takes exact tool names only");
        }
    }
}
