package org.nemorelay.cli.internal;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    private final PrintStream err;

    public PluginCommands(
            Path home,
            Map<String, String> environment,
            Map<String, String> flags,
            EventLog log,
            PrintStream out,
            PrintStream err) {
        this.home = home;
        this.environment = environment;
        this.flags = flags;
        this.log = log;
        this.out = out;
        this.err = err;
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
        rows.add(List.of("KIND", "VERSION", "STATE", "PLANNED", "LINE", "FILE", "REASON"));
        for (Map<String, Object> line : lines) {
            rows.add(List.of(
                    orDash(line.get("kind")),
                    orDash(line.get("version")),
                    orDash(line.get("state")),
                    Planned.word(line),
                    line.containsKey("worker_id") ? "running in " + line.get("worker_id") : "checked",
                    orDash(line.get("file")),
                    orDash(line.get("reason"))));
        }
        StringBuilder text = new StringBuilder();
        new Table(rows).append(text);
        out.print(text);
        return 0;
    }

    /** All that would run, or jars and folders of them that lie anywhere; the status is 1 when something speaks against one. */
    public int validate(List<String> names) {
        List<PluginCheck.Finding> findings = new ArrayList<>();
        List<Path> jars = new ArrayList<>();
        names.forEach(name -> collect(Path.of(name).toAbsolutePath().normalize(), jars, findings));
        if (names.isEmpty() || !jars.isEmpty()) {
            findings.addAll(check(check -> names.isEmpty() ? check.check() : check.check(jars)));
        }
        boolean valid = findings.stream().noneMatch(PluginCommands::bad);
        if (json()) {
            out.println(Json.write(Json.object(
                    "valid",
                    valid,
                    "plugins",
                    findings.stream().map(PluginCommands::line).toList())));
            return valid ? 0 : FAILED;
        }
        for (PluginCheck.Finding finding : findings) {
            PluginStatus status = finding.status();
            if (bad(finding)) {
                print(status.reason());
            } else if (!status.kind().isEmpty()) {
                print("ok: plugin \"" + status.kind() + "\" " + status.version() + " (" + status.file() + ")"
                        + (finding.declared() || finding.planned().isEmpty()
                                ? ""
                                : "; it declares no keys, so only a worker tells whether its configuration is right"));
            } else if (!status.reason().isEmpty()) {
                print(
                        status.reason().startsWith(status.file())
                                ? status.reason()
                                : status.file() + ": " + status.reason());
            }
        }
        if (valid) {
            out.println(
                    "valid; what no bundle can declare of its configuration (docs/plugins.md lists it) and what a plugin"
                            + " makes of this machine, such as a file it opens, a worker tells when it starts");
        }
        return valid ? 0 : FAILED;
    }

    /** As one line, whatever a file is called. */
    private void print(String line) {
        out.println(Table.plain(line));
    }

    private static boolean bad(PluginCheck.Finding finding) {
        return finding.status().state() == State.QUARANTINED;
    }

    /** A folder stands for the jars in it. */
    private static void collect(Path path, List<Path> jars, List<PluginCheck.Finding> findings) {
        if (!Files.exists(path)) {
            findings.add(refused(path, "there is no file " + path));
            return;
        }
        if (!Files.isDirectory(path)) {
            jars.add(path);
            return;
        }
        List<Path> inside = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(path, "*.jar")) {
            all.forEach(inside::add);
        } catch (IOException | DirectoryIteratorException e) {
            findings.add(refused(path, "the folder " + path + " cannot be read, make it readable"));
            return;
        }
        if (inside.isEmpty()) {
            findings.add(refused(path, "there is no jar in the folder " + path));
        }
        inside.sort(null);
        inside.forEach(one -> {
            if (Files.isDirectory(one)) {
                findings.add(refused(one, "plugin file " + one + " is not a file, put the bundle's jar in its place"));
            } else {
                jars.add(one);
            }
        });
    }

    private static PluginCheck.Finding refused(Path path, String reason) {
        return new PluginCheck.Finding(
                new PluginStatus("", "", State.QUARANTINED, path.toString(), reason),
                "",
                "",
                Optional.empty(),
                false,
                true);
    }

    /** Everything about one kind. */
    public int inspect(String kind) {
        List<Map<String, Object>> all = check(check -> {
            // They keep every plugin of a worker that starts now from running.
            check.problems().stream().map(Table::plain).forEach(err::println);
            return check.check().stream()
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
                        line.put(
                                "configuration",
                                check.configuration(kind).stream()
                                        .map(value -> Json.object(
                                                "key", value.key(), "value", value.value(), "source", value.source()))
                                        .toList());
                        return line;
                    })
                    .toList();
        });
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
        out.print(text(plugin));
        return 0;
    }

    static String text(Map<String, Object> plugin) {
        List<List<String>> rows = new ArrayList<>();
        Planned.inWords(plugin).forEach((name, value) -> {
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
        return text.toString();
    }

    private boolean json() {
        return flags.containsKey("json");
    }

    private <T> T check(Function<PluginCheck, T> question) {
        return RoleLauncher.ask(
                new LaunchOptions("plugins", home, Map.of(), environment), log, PluginCheck.class, question);
    }

    /** What running workers said to the daemon on this machine; if this user may not ask it, that is told. */
    private List<Map<String, Object>> ofWorkers() {
        Status.Workers workers = Status.workers(new LaunchOptions("plugins", home, flags, environment));
        workers.unseen().map(Table::plain).ifPresent(err::println);
        return workers.plugins();
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
        line.put("required", finding.required());
        return line;
    }

    private static String orDash(Object value) {
        String text = String.valueOf(value);
        return text.isEmpty() ? "-" : text;
    }
}
