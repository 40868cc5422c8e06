package org.nemorelay.plugin.piiredaction.internal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventSanitizer;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginKind;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/**
 * The {@code pii_redaction} component of plugins.toml (plugins.md 2.5): takes personal data and secrets out of what is
 * recorded; requests and answers stay as they are. Immutable.
 */
@PluginKind(
        value = PiiRedaction.KIND,
        config = {
            "version 1..1",
            "{builtin|profiles[]} 1..1",
            "{mode|profiles[]} 0..1",
            "mode =builtin",
            "{local} 0..0",
            "input boolean",
            "output boolean",
            "mark boolean",
            "tool_input boolean",
            "tool_output boolean",
            "priority -2147483648..2147483647",
            "codec string",
            "policy any",
            "local any",
            "builtin.action! =remove|redact|regex_replace|hash|mask",
            "builtin.{detector|pattern} 1.. if builtin.action=redact|regex_replace",
            "builtin.{detector|pattern} 0..1",
            "builtin.{preset|custom_mark_payload_policy} 0..0",
            "builtin.target_paths [pointer]",
            "builtin.pattern regex",
            "builtin.detector =email|phone|api_key|ip_address|ipv6|url|uuid|bearer_token|jwt|credit_card|aws_access_key_id|aws_secret_access_key|gcp_api_key|azure_storage_account_key",
            "builtin.replacement string",
            "builtin.mask_char character",
            "builtin.unmasked_prefix 0..2147483647",
            "builtin.unmasked_suffix -1..2147483647",
            "builtin.preset string",
            "builtin.custom_mark_payload_policy string",
            "profiles[].enabled boolean",
            "profiles[].{builtin} 1.. unless profiles[].enabled=false",
            "profiles[].mode =builtin unless profiles[].enabled=false",
            "profiles[].{local} 0..0 unless profiles[].enabled=false",
            "profiles[].priority -2147483648..2147483647",
            "profiles[].local any",
            "profiles[].builtin.action! =remove|redact|regex_replace|hash|mask",
            "profiles[].builtin.{detector|pattern} 1.. if profiles[].builtin.action=redact|regex_replace unless profiles[].enabled=false",
            "profiles[].builtin.{detector|pattern} 0..1 unless profiles[].enabled=false",
            "profiles[].builtin.{preset|custom_mark_payload_policy} 0..0 unless profiles[].enabled=false",
            "profiles[].builtin.target_paths [pointer] unless profiles[].enabled=false",
            "profiles[].builtin.pattern regex",
            "profiles[].builtin.detector =email|phone|api_key|ip_address|ipv6|url|uuid|bearer_token|jwt|credit_card|aws_access_key_id|aws_secret_access_key|gcp_api_key|azure_storage_account_key",
            "profiles[].builtin.replacement string",
            "profiles[].builtin.mask_char character unless profiles[].enabled=false",
            "profiles[].builtin.unmasked_prefix 0..2147483647",
            "profiles[].builtin.unmasked_suffix -1..2147483647",
            "profiles[].builtin.preset string",
            "profiles[].builtin.custom_mark_payload_policy string"
        })
@Component(
        service = EventSanitizer.class,
        configurationPid = PiiRedaction.KIND,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class PiiRedaction implements EventSanitizer {
    static final String KIND = "pii_redaction";
    private static final long CONFIG_VERSION = 1;
    private static final int DEFAULT_PRIORITY = 100;

    /** What of an event is told apart in the configuration. */
    private enum Surface {
        INPUT,
        OUTPUT,
        MARK,
        TOOL_INPUT,
        TOOL_OUTPUT
    }

    private record Ranked(Profile profile, long priority) {}

    private final List<Profile> profiles;
    private final List<Surface> surfaces = new ArrayList<>();
    private final int priority;

    @Activate
    public PiiRedaction(Map<String, ?> properties) {
        PluginConfig config = PluginConfig.of(properties)
                .only(
                        "version",
                        "mode",
                        "input",
                        "output",
                        "mark",
                        "tool_input",
                        "tool_output",
                        "priority",
                        "builtin",
                        "local",
                        "profiles",
                        "codec",
                        "policy");
        long version = config.integer("version", CONFIG_VERSION, 0, Long.MAX_VALUE);
        if (version != CONFIG_VERSION) {
            throw config.failure("version", version + " is not supported, write version = " + CONFIG_VERSION);
        }
        for (Surface surface : Surface.values()) {
            if (config.bool(surface.name().toLowerCase(java.util.Locale.ROOT), true)) {
                surfaces.add(surface);
            }
        }
        if (surfaces.isEmpty()) {
            throw config.failure(
                    "input", "input, output, mark, tool_input and tool_output are all false: one must be true");
        }
        priority = (int) config.integer("priority", DEFAULT_PRIORITY, Integer.MIN_VALUE, Integer.MAX_VALUE);
        profiles = profiles(config);
    }

    private static List<Profile> profiles(PluginConfig config) {
        List<PluginConfig> tables = config.tables("profiles");
        if (tables.isEmpty()) {
            return List.of(profile(config));
        }
        if (config.has("builtin") || config.has("mode")) {
            throw config.failure("profiles", "either profiles or one policy with mode and builtin, not both");
        }
        List<Ranked> ranked = new ArrayList<>();
        for (PluginConfig table : tables) {
            table.only("enabled", "mode", "priority", "builtin", "local");
            if (table.bool("enabled", true)) {
                ranked.add(new Ranked(
                        profile(table),
                        table.integer("priority", DEFAULT_PRIORITY, Integer.MIN_VALUE, Integer.MAX_VALUE)));
            }
        }
        return ranked.stream()
                .sorted(Comparator.comparingLong(Ranked::priority))
                .map(Ranked::profile)
                .toList();
    }

    private static Profile profile(PluginConfig config) {
        String mode = config.string("mode", "builtin");
        if (!mode.equals("builtin")) {
            throw config.failure(
                    "mode",
                    mode.equals("local_model")
                            ? "local_model is not supported by this version, use \"builtin\""
                            : "\"" + mode + "\" is no mode, use \"builtin\"");
        }
        if (config.has("local")) {
            throw config.failure("local", "not supported by this version, remove the section");
        }
        return new Profile(config.table("builtin"));
    }

    @Override
    public int priority() {
        return priority;
    }

    @Override
    public CompletionStage<Event> sanitize(Event event) {
        if (!surfaces.contains(surface(event))) {
            return CompletableFuture.completedStage(event);
        }
        Object data = Tokens.hidden(event.data().orElse(null));
        List<Walk> ofData = new ArrayList<>();
        List<Walk> ofProfile = new ArrayList<>();
        List<Walk> ofMetadata = new ArrayList<>();
        boolean call = event.category().filter("llm"::equals).isPresent()
                && data instanceof Map<?, ?> map
                && map.get("content") instanceof Map
                && map.containsKey("headers");
        for (Profile each : profiles) {
            ofData.addAll(each.walks());
            if (!each.targeted()) {
                ofProfile.addAll(each.walks());
                ofMetadata.addAll(each.walks());
                continue;
            }
            if (call) {
                // A model request's places are those of its body, and of what stands beside it.
                ofData.addAll(each.walks("content"));
            }
            // The same request or answer once more, brought to one form.
            ofProfile.addAll(each.walks("annotated_request"));
            ofProfile.addAll(each.walks("annotated_response"));
        }
        return CompletableFuture.completedStage(event.withData(Walk.over("", data, ofData))
                .withCategoryProfile(map(Walk.below(Tokens.hidden(event.values().get("category_profile")), ofProfile)))
                .withMetadata(map(metadata(event.values().get("metadata"), ofMetadata))));
    }

    private static Surface surface(Event event) {
        if (event.kind() == Event.Kind.MARK) {
            return Surface.MARK;
        }
        boolean start = event.kind() == Event.Kind.SCOPE_START;
        if (event.category().filter("tool"::equals).isPresent()) {
            return start ? Surface.TOOL_INPUT : Surface.TOOL_OUTPUT;
        }
        return start ? Surface.INPUT : Surface.OUTPUT;
    }

    /** What holds a session's events together stays. */
    private static Object metadata(Object metadata, List<Walk> walks) {
        if (!(metadata instanceof Map<?, ?> map)) {
            return metadata;
        }
        Map<Object, Object> kept = new LinkedHashMap<>();
        Map<Object, Object> rest = new LinkedHashMap<>();
        map.forEach((key, value) -> {
            String name = String.valueOf(key);
            boolean keeps = name.endsWith("_id") || name.endsWith(".id") || name.endsWith("_uuid");
            (keeps ? kept : rest).put(key, value);
        });
        Map<Object, Object> treated = new LinkedHashMap<>();
        if (Walk.over("", rest, walks) instanceof Map<?, ?> changed) {
            treated.putAll(changed);
        }
        treated.putAll(kept);
        return treated;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, ?> map(Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, ?>) map : null;
    }
}
