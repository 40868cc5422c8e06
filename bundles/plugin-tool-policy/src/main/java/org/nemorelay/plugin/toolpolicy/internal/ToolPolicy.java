package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginKind;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.ToolCall;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;

/**
 * The {@code tool_policy} component of plugins.toml: allows, denies or has the user asked about tool calls, by agent, tool,
 * command and path. It registers a service for each surface that the configuration names and no other: with hooks alone,
 * model answers stream untouched.
 */
@PluginKind(
        value = ToolPolicy.KIND,
        config = {
            "version 1..1",
            "{deny|rules|default} 1..",
            "deny [name]",
            "default =allow|deny|ask",
            "surfaces [=hooks|responses]+",
            "rules[].action! =allow|deny|ask",
            "rules[].agents [=codex|claude-code|pi]+",
            "rules[].tools [name]+",
            "rules[].commands [regex]+",
            "rules[].paths [name]+",
            "rules[].reason string+"
        })
@Component(
        service = {},
        configurationPid = ToolPolicy.KIND,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class ToolPolicy implements HookPolicy {
    static final String KIND = "tool_policy";

    private final Rules rules;
    private final List<ServiceRegistration<?>> registrations = new ArrayList<>();

    ToolPolicy(Map<String, ?> properties) {
        rules = Rules.of(PluginConfig.of(properties));
    }

    @Activate
    public ToolPolicy(BundleContext context, Map<String, ?> properties) {
        this(properties);
        Dictionary<String, Object> registered = new Hashtable<>(properties);
        if (rules.hooks()) {
            registrations.add(context.registerService(HookPolicy.class, this, registered));
        }
        if (rules.responses()) {
            registrations.add(context.registerService(ExecutionIntercept.class, new WholeAnswers(rules), registered));
            registrations.add(context.registerService(StreamIntercept.class, new StreamedAnswers(rules), registered));
        }
    }

    @Deactivate
    void close() {
        registrations.forEach(ServiceRegistration::unregister);
    }

    @Override
    public CompletionStage<Decision> decide(ToolCall call) {
        return CompletableFuture.completedStage(rules.decide(Call.of(call)));
    }
}
