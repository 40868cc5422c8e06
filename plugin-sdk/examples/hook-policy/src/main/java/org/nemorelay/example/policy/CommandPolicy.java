package org.nemorelay.example.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginKind;
import org.nemorelay.plugin.api.ToolCall;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/** Denies shell commands in which a pattern is found, and lets the user be asked about others. */
@PluginKind(
        value = "example_commands",
        config = {"deny [regex]", "ask [regex]"})
@Component(
        service = HookPolicy.class,
        configurationPid = "example_commands",
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class CommandPolicy implements HookPolicy {
    private final List<Pattern> deny;
    private final List<Pattern> ask;

    @Activate
    public CommandPolicy(Map<String, Object> properties) {
        PluginConfig config = PluginConfig.of(properties).only("deny", "ask");
        deny = patterns(config, "deny");
        ask = patterns(config, "ask");
    }

    @Override
    public CompletionStage<Decision> decide(ToolCall call) {
        return CompletableFuture.completedStage(call.arguments()
                .optionalString("command")
                .map(this::decide)
                .orElse(Decision.allow()));
    }

    private Decision decide(String command) {
        Optional<Pattern> denied = found(deny, command);
        if (denied.isPresent()) {
            return Decision.deny("commands like " + denied.get() + " are not allowed here, ask your administrator");
        }
        return found(ask, command)
                .<Decision>map(pattern -> Decision.ask("this command is one like " + pattern))
                .orElse(Decision.allow());
    }

    private static Optional<Pattern> found(List<Pattern> patterns, String command) {
        return patterns.stream().filter(pattern -> pattern.matcher(command).find()).findFirst();
    }

    private static List<Pattern> patterns(PluginConfig config, String key) {
        List<Pattern> patterns = new ArrayList<>();
        for (String text : config.strings(key)) {
            try {
                patterns.add(Pattern.compile(text));
            } catch (PatternSyntaxException e) {
                throw config.failure(key, "holds \"" + text + "\", which is no pattern: " + e.getDescription());
            }
        }
        return List.copyOf(patterns);
    }
}
