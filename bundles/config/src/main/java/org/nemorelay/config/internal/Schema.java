package org.nemorelay.config.internal;

import static org.nemorelay.config.internal.SettingType.*;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.nemorelay.config.PluginPlan.Position;
import org.nemorelay.config.Spelling;

/** The keys of config.toml (plugins 3, relay-daemon 0.1): which tables refuse what they do not know, and what each key accepts. */
final class Schema {
    /** A checked value; {@code origin} says where it came from, for people. */
    record Setting(Object value, String origin) {}

    private sealed interface Node {}

    private record Leaf(SettingType type) implements Node {}

    /** @param strict whether unknown keys are refused */
    private record Section(boolean strict, Map<String, Node> keys) implements Node {}

    private record Sections(Section each) implements Node {}

    /** The files of a log: tables that are told apart by their path, so that layers lay keys over the same file's keys. */
    static final String SINKS = "sinks";

    private static final Section LOGGING = new Section(
            true,
            Map.of(
                    "level",
                    new Leaf(LEVEL),
                    "stderr_format",
                    new Leaf(FORMAT),
                    "stderr_enabled",
                    new Leaf(FLAG),
                    "flush_interval_millis",
                    new Leaf(UNSIGNED),
                    SINKS,
                    new Sections(new Section(
                            true,
                            Map.of(
                                    "path", new Leaf(PATH),
                                    "level", new Leaf(LEVEL),
                                    "format", new Leaf(FORMAT),
                                    "queue_capacity", new Leaf(QUEUE),
                                    "max_file_size_bytes", new Leaf(POSITIVE),
                                    "retained_files", new Leaf(RETAINED))))));

    private static final Section AGENT = new Section(true, Map.of("command", new Leaf(TEXT)));

    private static final Section ROOT = new Section(
            false,
            Map.of(
                    "upstream",
                    new Section(
                            true,
                            Map.of(
                                    "openai_base_url", new Leaf(BASE_URL),
                                    "openai_auth_header", new Leaf(HEADER),
                                    "anthropic_base_url", new Leaf(BASE_URL),
                                    "anthropic_auth_header", new Leaf(HEADER),
                                    "chatgpt_codex_base_url", new Leaf(BASE_URL),
                                    "response_timeout_secs", new Leaf(UNSIGNED))),
                    "gateway",
                    new Section(
                            false,
                            Map.of(
                                    "max_hook_payload_bytes", new Leaf(POSITIVE),
                                    "max_passthrough_body_bytes", new Leaf(POSITIVE))),
                    "agents",
                    new Section(true, Map.of("codex", AGENT, "claude", AGENT, "pi", AGENT)),
                    "logging",
                    LOGGING,
                    "daemon",
                    new Section(
                            false,
                            Map.ofEntries(
                                    Map.entry("bind", new Leaf(BIND)),
                                    Map.entry("port", new Leaf(PORT)),
                                    Map.entry("advertise_address", new Leaf(TEXT)),
                                    Map.entry("tls_cert", new Leaf(PATH)),
                                    Map.entry("tls_key", new Leaf(PATH)),
                                    Map.entry("upgrades_per_address", new Leaf(POSITIVE_INT)),
                                    Map.entry("trusted_proxies", new Leaf(NETWORKS)),
                                    Map.entry("pass_through", new Leaf(FLAG)),
                                    Map.entry("require_worker", new Leaf(FLAG)),
                                    Map.entry("max_tokens_per_identity", new Leaf(TOKEN_LIMIT)),
                                    Map.entry("logging", LOGGING)))));

    /** The tables of config.toml that {@link FleetConfiguration} checks. */
    private static final Set<String> OF_FLEETS = Set.of("distributed", "frontend", "node", "agent_worker");

    private Schema() {}

    /**
     * The checked settings of a file by dotted name; the first bad key or value stops it.
     *
     * @param notes receives one line for each key that is tolerated yet means nothing here
     */
    static Map<String, Setting> check(TomlValue.Table file, Consumer<String> notes) {
        Map<String, Setting> settings = new TreeMap<>();
        check(file, ROOT, List.of(), settings, notes);
        return settings;
    }

    /** The dotted names of all settings below a table, those of its log files aside. */
    static List<String> names(String table) {
        List<String> names = new ArrayList<>();
        names(table, (Section) ROOT.keys().get(table), names);
        return names;
    }

    private static void names(String path, Section section, List<String> names) {
        section.keys().forEach((key, node) -> {
            switch (node) {
                case Leaf _ -> names.add(path + "." + key);
                case Section inner -> names(path + "." + key, inner, names);
                case Sections _ -> {}
            }
        });
    }

    /** What the setting of this dotted name accepts. */
    static SettingType type(String name) {
        Section section = ROOT;
        String[] path = name.split("\\.");
        for (int i = 0; i < path.length - 1; i++) {
            section = (Section) section.keys().get(path[i]);
        }
        return ((Leaf) section.keys().get(path[path.length - 1])).type();
    }

    private static void check(
            TomlValue.Table table,
            Section section,
            List<String> path,
            Map<String, Setting> settings,
            Consumer<String> notes) {
        for (Map.Entry<String, TomlValue> entry : table.entries().entrySet()) {
            List<String> name = append(path, entry.getKey());
            TomlValue value = entry.getValue();
            switch (section.keys().get(entry.getKey())) {
                case null -> unknown(section, path, entry.getKey(), value, notes);
                case Leaf(SettingType type) -> settings.put(String.join(".", name), setting(name, type, value));
                case Section inner -> {
                    if (!(value instanceof TomlValue.Table nested)) {
                        throw Failures.at(value.position(), name(name) + " must be a table, it is " + value.kind());
                    }
                    check(nested, inner, name, settings, notes);
                }
                case Sections(Section each) -> sections(name, each, value, settings, notes);
            }
        }
    }

    private static void sections(
            List<String> name, Section each, TomlValue value, Map<String, Setting> settings, Consumer<String> notes) {
        if (!(value instanceof TomlValue.Array array)) {
            throw Failures.at(value.position(), name(name) + " must be an array of tables, it is " + value.kind());
        }
        for (TomlValue item : array.items()) {
            if (!(item instanceof TomlValue.Table table)) {
                throw Failures.at(item.position(), name(name) + " must hold tables, not " + item.kind());
            }
            Map<String, Setting> keys = new TreeMap<>();
            check(table, each, name, keys, notes);
            Setting path = keys.get(String.join(".", name) + ".path");
            if (path == null) {
                throw Failures.at(item.position(), "[[" + String.join(".", name) + "]] requires path");
            }
            String file = resolved(path);
            keys.forEach((key, setting) ->
                    settings.put(String.join(".", name) + "." + file + key.substring(key.lastIndexOf('.')), setting));
        }
    }

    private static String resolved(Setting path) {
        try {
            return Path.of((String) path.value()).toAbsolutePath().normalize().toString();
        } catch (InvalidPathException e) {
            throw Failures.of(path.origin() + ": this is no path");
        }
    }

    private static void unknown(
            Section section, List<String> path, String key, TomlValue value, Consumer<String> notes) {
        String where = path.isEmpty() ? "" : "[" + String.join(".", path) + "] ";
        Set<String> known = new TreeSet<>(section.keys().keySet());
        if (path.isEmpty()) {
            known.addAll(OF_FLEETS);
            if (OF_FLEETS.contains(key)) {
                return;
            }
        }
        String text = where + "\"" + key + "\" is not a known key" + Spelling.instead(key, known);
        if (section.strict()) {
            throw Failures.at(value.position(), text);
        }
        // Tables at the top belong to other programs that share the file; a known one in other letters does not.
        boolean foreign = path.isEmpty()
                && !(value instanceof TomlValue.Scalar)
                && Spelling.meant(key, known).isEmpty();
        if (!foreign) {
            notes.accept(value.position() + ": ignored: " + text);
        }
    }

    private static Setting setting(List<String> name, SettingType type, TomlValue value) {
        Optional<Object> accepted =
                value instanceof TomlValue.Scalar(Object scalar, Position _) ? type.from(scalar) : Optional.empty();
        return new Setting(
                accepted.orElseThrow(() -> Failures.at(value.position(), name(name) + " " + type.wrong(value))),
                value.position().toString());
    }

    /** {@code [upstream] openai_base_url}, as it stands in the file. */
    private static String name(List<String> path) {
        String key = path.getLast();
        return path.size() == 1
                ? "[" + key + "]"
                : "[" + String.join(".", path.subList(0, path.size() - 1)) + "] " + key;
    }

    private static List<String> append(List<String> path, String key) {
        List<String> longer = new ArrayList<>(path);
        longer.add(key);
        return List.copyOf(longer);
    }
}
