package org.nemorelay.cli.internal;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nemorelay.config.EffectiveSettings;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.json.Json;
import org.nemorelay.launcher.RoleLauncher;
import org.nemorelay.pluginhost.PluginCheck;
import org.nemorelay.telemetry.EventLog;

/** {@code nemo-relay config show}: the settings that daemon and workers have when they start now, as TOML, with their sources. */
public final class ConfigShow {
    /** Settings do not depend on it, and a worker does not start without one. */
    private static final Map<String, String> WORKER = Map.of("daemon-address", "http://127.0.0.1:47632");

    private ConfigShow() {}

    public static int run(
            Path home, Map<String, String> environment, Map<String, String> flags, EventLog log, PrintStream out) {
        Map<String, List<Map<String, Object>>> sections = new LinkedHashMap<>();
        sections.put("daemon", settings(new LaunchOptions("daemon", home, Map.of(), environment)));
        sections.put("worker", settings(new LaunchOptions("worker", home, WORKER, environment)));
        sections.put("plugins", plugins(home, environment, log));
        boolean origin = flags.containsKey("origin");
        if (flags.containsKey("json")) {
            if (!origin) {
                sections.values().forEach(all -> all.forEach(one -> one.remove("source")));
            }
            out.println(Json.write(sections));
            return 0;
        }
        StringBuilder text = new StringBuilder();
        sections.forEach((section, all) -> {
            text.append(text.isEmpty() ? "" : "\n").append("# ").append(section).append('\n');
            List<List<String>> rows = new ArrayList<>();
            for (Map<String, Object> one : all) {
                String assignment = one.get("value") == null
                        ? "# " + one.get("name") + " is not set"
                        : one.get("name") + " = " + Json.write(one.get("value"));
                rows.add(origin ? List.of(assignment, "# " + one.get("source")) : List.of(assignment));
            }
            new Table(rows).append(text);
        });
        out.print(text);
        return 0;
    }

    private static List<Map<String, Object>> settings(LaunchOptions options) {
        List<Map<String, Object>> all = new ArrayList<>();
        EffectiveSettings.of(options)
                .forEach(
                        setting -> all.add(entry(setting.name(), setting.value().orElse(null), setting.source())));
        return all;
    }

    private static List<Map<String, Object>> plugins(Path home, Map<String, String> environment, EventLog log) {
        return RoleLauncher.ask(
                new LaunchOptions("plugins", home, Map.of(), environment), log, PluginCheck.class, check -> {
                    List<Map<String, Object>> all = new ArrayList<>();
                    for (String kind : check.planned()) {
                        check.configuration(kind)
                                .forEach(value ->
                                        all.add(entry(kind + "." + value.key(), value.value(), value.source())));
                    }
                    return all;
                });
    }

    private static Map<String, Object> entry(String name, Object value, String source) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("name", name);
        entry.put("value", value);
        entry.put("source", source);
        return entry;
    }
}
