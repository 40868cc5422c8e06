package org.nemorelay.cli.internal;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.json.Json;
import org.nemorelay.launcher.RoleLauncher;
import org.nemorelay.pluginhost.PluginCheck;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;

/**
 * {@code nemo-relay plugins}: what a worker would make of plugins.toml and the plugin folders, checked in a framework of
 * its own in which no plugin runs, and what the running workers say, as their daemon's owner sees it.
 */
public final class PluginCommands {
    private static final int FAILED = 1;

    private final Path home;
    private final Map<String, String> environment;
    private final Map<String, String> flags;
    private final EventLog log;
    private final PrintStream out;

    public PluginCommands(
            Path home, Map<String, String> environment, Map<String, String> flags, EventLog log, PrintStream out) {
        this.home = home;
        this.environment = environment;
        this.flags = flags;
        this.log = log;
        this.out = out;
    }

    /** The workers' lines first: they are what is. */
    public int list() {
        List<Map<String, Object>> lines = new ArrayList<>(ofWorkers());
        check(check -> check.check()).forEach(finding -> lines.add(line(finding)));
        if (json()) {
            out.println(Json.write(lines));
            return 0;
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("KIND", "VERSION", "STATE", "OF", "FILE", "REASON"));
        for (Map<String, Object> line : lines) {
            rows.add(List.of(
                    orDash(line.get("kind")),
                    orDash(line.get("version")),
                    orDash(line.get("state")),
                    line.containsKey("worker_id") ? "worker " + line.get("worker_id") : "check",
                    orDash(line.get("file")),
                    orDash(line.get("reason"))));
        }
        StringBuilder text = new StringBuilder();
        new Table(rows).append(text);
        out.print(text);
        return 0;
    }

    /** All that would run, or one jar that lies anywhere; the status is 1 when something speaks against it. */
    public int validate(List<String> jars) {
        List<PluginCheck.Finding> findings = check(check -> {
            if (jars.isEmpty()) {
                return check.check();
            }
            List<PluginCheck.Finding> all = new ArrayList<>();
            jars.forEach(jar -> all.addAll(check.check(file(jar))));
            return all;
        });
        List<PluginCheck.Finding> bad = findings.stream()
                .filter(finding -> finding.status().state() == State.QUARANTINED)
                .toList();
        if (json()) {
            out.println(Json.write(Json.object(
                    "valid",
                    bad.isEmpty(),
                    "plugins",
                    findings.stream().map(PluginCommands::line).toList())));
        } else if (bad.isEmpty()) {
            findings.stream()
                    .filter(finding -> !finding.status().kind().isEmpty())
                    .forEach(finding -> out.println("ok: plugin \""
                            + finding.status().kind() + "\" " + finding.status().version() + " ("
                            + finding.status().file() + ")"));
            out.println("valid; a worker also asks each plugin whether its configuration is right");
        } else {
            bad.forEach(finding -> out.println(finding.status().reason()));
        }
        return bad.isEmpty() ? 0 : FAILED;
    }

    /** Everything about one kind. */
    public int inspect(String kind) {
        List<Map<String, Object>> all = check(check -> check.check().stream()
                .filter(finding -> finding.status().kind().equals(kind))
                .map(finding -> {
                    Map<String, Object> line = line(finding);
                    line.put("symbolic_name", finding.symbolicName());
                    line.put("sha256", finding.sha256());
                    line.put(
                            "planned_at",
                            finding.planned()
                                    .map(one -> one.position().toString())
                                    .orElse(""));
                    line.put("required", finding.required());
                    line.put(
                            "configuration",
                            check.configuration(kind).stream()
                                    .map(value -> Json.object(
                                            "key", value.key(), "value", value.value(), "source", value.source()))
                                    .toList());
                    return line;
                })
                .toList());
        if (all.isEmpty()) {
            throw new RelayException(
                    FailureKind.NOT_FOUND,
                    "no plugin of the kind \"" + kind + "\" is named in plugins.toml or lies in a plugin folder");
        }
        Map<String, Object> plugin = all.getFirst();
        plugin.put(
                "workers",
                ofWorkers().stream()
                        .filter(line -> kind.equals(line.get("kind")))
                        .toList());
        if (json()) {
            out.println(Json.write(plugin));
            return 0;
        }
        List<List<String>> rows = new ArrayList<>();
        plugin.forEach((name, value) -> {
            if (value instanceof List<?> items) {
                for (Object item : items) {
                    Map<?, ?> one = (Map<?, ?>) item;
                    rows.add(
                            name.equals("workers")
                                    ? List.of(
                                            "worker " + one.get("worker_id"),
                                            one.get("state") + " " + one.get("reason"))
                                    : List.of(
                                            "config " + one.get("key"), one.get("value") + "  # " + one.get("source")));
                }
            } else {
                rows.add(List.of(name, orDash(value)));
            }
        });
        StringBuilder text = new StringBuilder();
        new Table(rows).append(text);
        out.print(text);
        return 0;
    }

    private boolean json() {
        return flags.containsKey("json");
    }

    private <T> T check(Function<PluginCheck, T> question) {
        return RoleLauncher.ask(
                new LaunchOptions("plugins", home, Map.of(), environment), log, PluginCheck.class, question);
    }

    /** What running workers said to the daemon on this machine, if this user may ask it. */
    private List<Map<String, Object>> ofWorkers() {
        return Status.plugins(new LaunchOptions("plugins", home, flags, environment));
    }

    private static Map<String, Object> line(PluginCheck.Finding finding) {
        PluginStatus status = finding.status();
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("kind", status.kind());
        line.put("version", status.version());
        line.put("state", status.state().word());
        line.put("file", status.file());
        line.put("reason", status.reason());
        line.put("source", "check");
        line.put("planned", finding.planned().isPresent());
        return line;
    }

    private static Path file(String text) {
        Path file = Path.of(text).toAbsolutePath().normalize();
        if (Files.isDirectory(file)) {
            throw new RelayException(FailureKind.CONFIGURATION, file + " is a folder, name the jar in it");
        }
        if (!Files.isRegularFile(file)) {
            throw new RelayException(FailureKind.NOT_FOUND, "there is no file " + file);
        }
        return file;
    }

    private static String orDash(Object value) {
        String text = String.valueOf(value);
        return text.isEmpty() ? "-" : text;
    }
}
