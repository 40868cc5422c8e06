package org.nemorelay.config.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.nemorelay.config.EffectiveSettings;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.internal.Schema.Setting;
import org.nemorelay.protocol.Secrets;
import org.nemorelay.telemetry.LogSettings;

/** The settings of a role as values and sources. */
public final class RoleSettings {
    private static final String DEFAULT = "default";
    private static final String REDACTED = "[REDACTED]";

    private RoleSettings() {}

    /** Of the files as they are now, sorted by name; those that nobody has set are empty. */
    public static List<EffectiveSettings.Setting> of(LaunchOptions options) {
        RoleConfiguration configuration = RoleConfiguration.resolve(options);
        configuration.plugins().ifPresent(Plugins::sound);
        return of(options, configuration);
    }

    /** The same of what was read earlier. */
    static List<EffectiveSettings.Setting> of(LaunchOptions options, RoleConfiguration configuration) {
        List<EffectiveSettings.Setting> all = new ArrayList<>();
        byName(options, configuration)
                .forEach((name, entry) -> all.add(new EffectiveSettings.Setting(
                        name, entry.getKey().map(value -> secret(name, value) ? REDACTED : value), entry.getValue())));
        return List.copyOf(all);
    }

    private static boolean secret(String name, Object value) {
        return name.endsWith("_auth_header") || name.endsWith("_url") && Secrets.isSecret(name, value);
    }

    private static Map<String, Map.Entry<Optional<Object>, String>> byName(
            LaunchOptions options, RoleConfiguration configuration) {
        // A worker takes nothing from the daemon's table, nor a daemon from the workers'.
        boolean daemon = options.role().equals("daemon");
        Map<String, Map.Entry<Optional<Object>, String>> settings = new TreeMap<>();
        for (String table : List.of("upstream", "gateway", daemon ? "daemon" : "logging")) {
            Schema.names(table).forEach(name -> settings.put(name, Map.entry(Optional.empty(), DEFAULT)));
        }
        configuration.settings().forEach((name, setting) -> {
            if (!name.startsWith(daemon ? "logging." : "daemon.")) {
                settings.put(name, Map.entry(Optional.of(setting.value()), setting.origin()));
            }
        });
        log(options, configuration, daemon ? "daemon.logging." : "logging.", settings);
        return settings;
    }

    /** What is logged is decided by variables and options too. */
    private static void log(
            LaunchOptions options,
            RoleConfiguration configuration,
            String section,
            Map<String, Map.Entry<Optional<Object>, String>> settings) {
        LogSettings log = configuration.logging();
        Map<String, Setting> files = configuration.settings();
        put(settings, files, options, section + "level", word(log.level()), "log-level", LogSettings.LEVEL_VARIABLE);
        put(
                settings,
                files,
                options,
                section + "stderr_format",
                word(log.format()),
                "log-stderr-format",
                LogSettings.FORMAT_VARIABLE);
        put(settings, files, options, section + "stderr_enabled", log.stderr(), "", LogSettings.STDERR_VARIABLE);
    }

    private static void put(
            Map<String, Map.Entry<Optional<Object>, String>> settings,
            Map<String, Setting> files,
            LaunchOptions options,
            String name,
            Object value,
            String flag,
            String variable) {
        Optional<String> file = options.flag("log-config-path")
                .or(() -> Optional.ofNullable(options.environment().get(LogSettings.FILE_VARIABLE)));
        String source;
        if (options.flag(flag).isPresent()) {
            source = "--" + flag;
        } else if (file.isPresent()) {
            source = file.get();
        } else if (options.environment().containsKey(variable)) {
            source = variable;
        } else {
            source = Optional.ofNullable(files.get(name)).map(Setting::origin).orElse(DEFAULT);
        }
        settings.put(name, Map.entry(Optional.of(value), source));
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
