package org.nemorelay.cli.internal;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.config.EffectiveSettings;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
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
        Optional<JsonObject> said =
                origin ? Status.configuration(new LaunchOptions("daemon", home, flags, environment)) : Optional.empty();
        List<Map<String, Object>> running =
                said.map(one -> running(one, sections)).orElse(List.of());
        List<String> silent = said.map(ConfigShow::silent).orElse(List.of());
        if (flags.containsKey("json")) {
            Map<String, Object> all = new LinkedHashMap<>(sections);
            if (origin) {
                all.put("running", running);
                all.put("not_told", silent);
            } else {
                sections.values().forEach(each -> each.forEach(one -> one.remove("source")));
            }
            out.println(Json.write(all));
            return 0;
        }
        out.print(text(sections, running, silent, origin));
        return 0;
    }

    static String text(
            Map<String, List<Map<String, Object>>> sections,
            List<Map<String, Object>> running,
            List<String> silent,
            boolean origin) {
        StringBuilder text = new StringBuilder();
        sections.forEach((section, all) -> append(text, section, all, origin ? "checked: " : ""));
        Map<String, List<Map<String, Object>>> byProcess = new LinkedHashMap<>();
        running.forEach(one -> byProcess
                .computeIfAbsent((String) one.get("in"), first -> new ArrayList<>())
                .add(one));
        byProcess.forEach((process, all) ->
                append(text, "in force in the running " + process + " instead", all, "running in " + process + ": "));
        silent.forEach(process -> text.append("\n# the running ")
                .append(process)
                .append(
                        " does not tell what is in force in it: it is starting, of another version, or has more settings than")
                .append(" it can tell (event report_shortened in its log)\n"));
        return text.toString();
    }

    /** Workers that say nothing of their settings; there is none that has none. */
    static List<String> silent(JsonObject said) {
        return said.objects("workers").stream()
                .filter(worker -> worker.objects("settings").isEmpty())
                .map(worker -> "worker " + worker.string("worker_id"))
                .toList();
    }

    /** @param kind what stands before each source; empty for no sources */
    private static void append(StringBuilder text, String title, List<Map<String, Object>> all, String kind) {
        text.append(text.isEmpty() ? "" : "\n").append("# ").append(title).append('\n');
        List<List<String>> rows = new ArrayList<>();
        for (Map<String, Object> one : all) {
            String assignment = one.get("value") == null
                    ? "# " + one.get("name") + " is not set"
                    : one.get("name") + " = " + Json.write(one.get("value"));
            rows.add(
                    kind.isEmpty()
                            ? List.of(assignment)
                            : List.of(assignment, "# " + kind + String.valueOf(one.get("source"))));
        }
        new Table(rows).append(text);
    }

    /** What the daemon and its workers have in force that one that starts now would have otherwise, or not at all. */
    static List<Map<String, Object>> running(JsonObject said, Map<String, List<Map<String, Object>>> checked) {
        List<Map<String, Object>> all =
                new ArrayList<>(differing("daemon", said.objects("daemon"), checked.get("daemon")));
        List<Map<String, Object>> ofWorkers = new ArrayList<>(checked.get("worker"));
        ofWorkers.addAll(checked.get("plugins"));
        for (JsonObject worker : said.objects("workers")) {
            if (!worker.objects("settings").isEmpty()) {
                all.addAll(differing("worker " + worker.string("worker_id"), worker.objects("settings"), ofWorkers));
            }
        }
        return all;
    }

    private static List<Map<String, Object>> differing(
            String process, List<JsonObject> said, List<Map<String, Object>> checked) {
        Map<String, Map<String, Object>> expected = new LinkedHashMap<>();
        checked.forEach(one -> expected.put((String) one.get("name"), one));
        List<Map<String, Object>> differing = new ArrayList<>();
        for (JsonObject one : said) {
            String value = one.string("value");
            Map<String, Object> other = expected.remove(one.string("name"));
            String wanted = other == null || other.get("value") == null ? "" : Json.write(other.get("value"));
            if (!wanted.equals(value)) {
                differing.add(entry(
                        process, one.string("name"), value.isEmpty() ? null : Json.parse(value), one.string("source")));
            }
        }
        expected.values().stream()
                .filter(one -> one.get("value") != null)
                .forEach(one -> differing.add(entry(process, (String) one.get("name"), null, "not in force")));
        return differing;
    }

    private static Map<String, Object> entry(String process, String name, Object value, String source) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("in", process);
        entry.putAll(entry(name, value, source));
        return entry;
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
