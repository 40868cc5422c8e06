package org.nemorelay.config.internal;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.internal.Schema.Setting;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.LogSettings;

/**
 * Everything a role is configured with, from its options, its environment and the files; reads files and changes
 * nothing. Every failure is {@link FailureKind#CONFIGURATION} and names its place.
 *
 * @param pids the properties of each Configuration Admin PID
 * @param logging what the process logs from now on
 * @param plugins the planned plugins, with all that is wrong with a worker's files; empty where the role runs none
 * @param notes one line for each thing that is tolerated yet has no effect
 * @param settings the settings that hold, by dotted name, with where each comes from
 * @param files what was looked for on the way, there or not
 * @param silent those of the files that are not there or say nothing
 */
record RoleConfiguration(
        Map<String, Map<String, Object>> pids,
        LogSettings logging,
        Optional<Plugins> plugins,
        List<Note> notes,
        Map<String, Setting> settings,
        List<Path> files,
        Set<Path> silent) {

    /** One line about something that has no effect, and how much it matters. */
    record Note(Level level, String text) {}

    /** The role of who looks at the plan and tells what is wrong with it: that is the answer, and nobody's log. */
    static final String LOOKING = "plugins";

    private static final String CONFIG_FILE = "config.toml";

    private static final String CAPTURE_VARIABLE = "NEMO_RELAY_DAEMON_OBSERVATION_CAPTURE_BYTES";
    private static final long DEFAULT_CAPTURE_BYTES = 16L << 20;

    private static final Map<String, Setting> DEFAULTS = Map.ofEntries(
            Map.entry("daemon.bind", byDefault("127.0.0.1")),
            Map.entry("daemon.port", byDefault(47_632L)),
            Map.entry("daemon.pass_through", byDefault(false)),
            Map.entry("daemon.require_worker", byDefault(false)),
            Map.entry("daemon.max_tokens_per_identity", byDefault(4L)),
            Map.entry("upstream.openai_base_url", byDefault("https://api.openai.com/v1")),
            Map.entry("upstream.anthropic_base_url", byDefault("https://api.anthropic.com")),
            Map.entry("upstream.chatgpt_codex_base_url", byDefault("https://chatgpt.com/backend-api/codex")),
            Map.entry("upstream.response_timeout_secs", byDefault(0L)),
            Map.entry("gateway.max_hook_payload_bytes", byDefault(20L << 20)),
            Map.entry("gateway.max_passthrough_body_bytes", byDefault(100L << 20)));

    private static final Map<String, String> DAEMON_VARIABLES = Map.of(
            "NEMO_RELAY_OPENAI_BASE_URL", "upstream.openai_base_url",
            "NEMO_RELAY_OPENAI_AUTH_HEADER", "upstream.openai_auth_header",
            "NEMO_RELAY_ANTHROPIC_BASE_URL", "upstream.anthropic_base_url",
            "NEMO_RELAY_ANTHROPIC_AUTH_HEADER", "upstream.anthropic_auth_header",
            "NEMO_RELAY_CHATGPT_CODEX_BASE_URL", "upstream.chatgpt_codex_base_url",
            "NEMO_RELAY_MAX_HOOK_PAYLOAD_BYTES", "gateway.max_hook_payload_bytes",
            "NEMO_RELAY_MAX_PASSTHROUGH_BODY_BYTES", "gateway.max_passthrough_body_bytes",
            "NEMO_RELAY_DAEMON_MAX_TOKENS_PER_IDENTITY", "daemon.max_tokens_per_identity");

    private static final Map<String, String> DAEMON_FLAGS = Map.ofEntries(
            Map.entry("openai-base-url", "upstream.openai_base_url"),
            Map.entry("anthropic-base-url", "upstream.anthropic_base_url"),
            Map.entry("chatgpt-codex-base-url", "upstream.chatgpt_codex_base_url"),
            Map.entry("max-hook-payload-bytes", "gateway.max_hook_payload_bytes"),
            Map.entry("max-passthrough-body-bytes", "gateway.max_passthrough_body_bytes"),
            Map.entry("bind", "daemon.bind"),
            Map.entry("port", "daemon.port"),
            Map.entry("advertise-address", "daemon.advertise_address"),
            Map.entry("tls-cert", "daemon.tls_cert"),
            Map.entry("tls-key", "daemon.tls_key"),
            Map.entry("pass-through", "daemon.pass_through"),
            Map.entry("require-worker", "daemon.require_worker"),
            Map.entry("max-tokens-per-identity", "daemon.max_tokens_per_identity"));

    /** The configuration of the role that the options name; a role without files of its own has none. */
    static RoleConfiguration resolve(LaunchOptions options) {
        return switch (options.role()) {
            case "daemon" -> daemon(options);
            case "worker" -> worker(options);
            case LOOKING -> plugins(options);
            case FleetConfiguration.FRONTEND, FleetConfiguration.NODE, FleetConfiguration.AGENT_WORKER ->
                fleet(options);
            default ->
                new RoleConfiguration(
                        Map.of(),
                        logging(options, new Layers(), "logging"),
                        Optional.empty(),
                        List.of(),
                        Map.of(),
                        List.of(),
                        Set.of());
        };
    }

    /** The files that a role reads, and which of them have nothing to say. */
    private static final class Sources {
        final List<Path> files = new ArrayList<>();
        final Set<Path> silent = new HashSet<>();

        Optional<TomlValue.Table> read(Path file) {
            Optional<TomlValue.Table> table = TomlFile.read(file);
            files.add(file);
            if (table.map(TomlValue.Table::entries).orElse(Map.of()).isEmpty()) {
                silent.add(file);
            }
            return table;
        }

        Optional<TomlValue.Table> user(LaunchOptions options) {
            Optional<Path> path = userPath(options);
            Optional<TomlValue.Table> file = path.flatMap(this::read);
            if (file.isEmpty() && options.flag("config").isPresent()) {
                throw Failures.of("--config: there is no file " + path.orElseThrow());
            }
            return file;
        }

        Optional<TomlValue.Table> system(LaunchOptions options) {
            return read(options.systemFolder().resolve(CONFIG_FILE));
        }

        Optional<TomlValue.Table> plugins(LaunchOptions options) {
            Path path = options.systemFolder().resolve(Plugins.FILE);
            Optional<TomlValue.Table> file = read(path);
            if (!Plugins.says(file)) {
                silent.add(path);
            }
            return file;
        }
    }

    private static RoleConfiguration fleet(LaunchOptions options) {
        List<Note> notes = new ArrayList<>();
        Layers layers = new Layers();
        Sources sources = new Sources();
        Optional<TomlValue.Table> user = sources.user(options);
        Optional<TomlValue.Table> system = sources.system(options);
        user.ifPresent(file -> layers.over(Schema.check(file, mistakes(notes))));
        system.ifPresent(file -> layers.over(Schema.check(file, mistakes(notes))));
        return new RoleConfiguration(
                FleetConfiguration.resolve(options, user, system),
                logging(options, layers, "logging"),
                Optional.empty(),
                List.copyOf(notes),
                layers.merged(),
                List.copyOf(sources.files),
                Set.copyOf(sources.silent));
    }

    private static RoleConfiguration daemon(LaunchOptions options) {
        List<Note> notes = new ArrayList<>();
        Layers layers = new Layers().over(DEFAULTS);
        Sources sources = new Sources();
        sources.user(options).ifPresent(file -> layers.over(Schema.check(file, mistakes(notes))));
        sources.system(options).ifPresent(file -> layers.over(Schema.check(file, mistakes(notes))));
        layers.over(Layers.environment(options.environment(), DAEMON_VARIABLES))
                .over(Layers.flags(options.flags(), DAEMON_FLAGS));

        boolean passThrough = flag(layers, "daemon.pass_through");
        boolean requireWorker = flag(layers, "daemon.require_worker");
        if (passThrough && requireWorker) {
            throw Failures.of("pass_through (" + origin(layers, "daemon.pass_through") + ") and require_worker ("
                    + origin(layers, "daemon.require_worker") + ") exclude each other");
        }
        String bind = text(layers, "daemon.bind");
        String advertise = text(layers, "daemon.advertise_address");
        String tlsCert = text(layers, "daemon.tls_cert");
        String tlsKey = text(layers, "daemon.tls_key");
        if (tlsCert.isEmpty() != tlsKey.isEmpty()) {
            throw Failures.of("TLS needs both tls_cert and tls_key; only "
                    + (tlsKey.isEmpty()
                            ? "tls_cert (" + origin(layers, "daemon.tls_cert")
                            : "tls_key (" + origin(layers, "daemon.tls_key"))
                    + ") is given");
        }
        checkAdvertised(layers, bind, !tlsCert.isEmpty());

        Map<String, Map<String, Object>> pids = new HashMap<>();
        pids.put(
                "org.nemorelay.daemon",
                Map.ofEntries(
                        Map.entry("bind", bind),
                        Map.entry("port", integer(layers, "daemon.port")),
                        Map.entry("advertise_address", advertise),
                        Map.entry("tls_cert", tlsCert),
                        Map.entry("tls_key", tlsKey),
                        Map.entry("upgrades_per_address", checkedCount(layers, "daemon.upgrades_per_address")),
                        Map.entry("trusted_proxies", text(layers, "daemon.trusted_proxies")),
                        Map.entry("pass_through", passThrough),
                        Map.entry("require_worker", requireWorker),
                        Map.entry("max_tokens_per_identity", integer(layers, "daemon.max_tokens_per_identity"))));
        shared(layers, pids);
        return new RoleConfiguration(
                Map.copyOf(pids),
                logging(options, layers, "daemon.logging"),
                Optional.empty(),
                List.copyOf(notes),
                layers.merged(),
                List.copyOf(sources.files),
                Set.copyOf(sources.silent));
    }

    /** A key that nobody heeds is a policy that is not in force: that is told at every level of the log. */
    private static Consumer<String> mistakes(List<Note> notes) {
        return text -> notes.add(new Note(Level.ERROR, text));
    }

    /** The plugin commands read what a worker reads, and tell all that is wrong with it. */
    private static RoleConfiguration plugins(LaunchOptions options) {
        return new RoleConfiguration(
                Map.of(),
                logging(options, new Layers(), "logging"),
                Optional.of(OfWorkers.read(options).plan()),
                List.of(),
                Map.of(),
                List.of(),
                Set.of());
    }

    /**
     * What the files of the system come to.
     *
     * @param plan with all that is wrong with any of the files: a worker tells its daemon before it ends
     */
    private record OfWorkers(Layers layers, LogSettings logging, Plugins plan, Sources sources) {
        static OfWorkers read(LaunchOptions options) {
            Sources sources = new Sources();
            Layers layers = new Layers().over(DEFAULTS);
            Set<String> problems = new LinkedHashSet<>();
            List<String> notes = new ArrayList<>();
            attempt(
                    problems,
                    () -> sources.system(options).ifPresent(file -> layers.over(Schema.check(file, notes::add))));
            LogSettings logging = attempt(problems, () -> RoleConfiguration.logging(options, layers, "logging"))
                    .orElseGet(() -> RoleConfiguration.logging(options, new Layers(), "logging"));
            Plugins plan = attempt(problems, () -> Plugins.read(sources.plugins(options)))
                    .orElseGet(Plugins::without);
            return new OfWorkers(layers, logging, plan.with(problems, notes), sources);
        }

        private static void attempt(Set<String> problems, Runnable part) {
            attempt(problems, () -> {
                part.run();
                return part;
            });
        }

        private static <T> Optional<T> attempt(Set<String> problems, Supplier<T> part) {
            try {
                return Optional.of(part.get());
            } catch (RelayException e) {
                problems.add(e.getMessage());
                return Optional.empty();
            }
        }
    }

    /** A worker heeds nothing of the user's but what the sheet names: no file, no base URL, no limit. */
    private static RoleConfiguration worker(LaunchOptions options) {
        OfWorkers files = OfWorkers.read(options);
        Layers layers = files.layers();
        List<Note> notes = new ArrayList<>();
        files.plan().notes().forEach(mistakes(notes));

        String address =
                options.flag("daemon-address").orElseThrow(() -> Failures.of("a worker needs --daemon-address"));
        String bind = options.flag("bind").orElse("127.0.0.1");
        String advertise = options.flag("advertise-address").orElse("");
        if (SettingType.BIND.fromText(bind).isEmpty()) {
            throw Failures.of("--bind must be " + SettingType.BIND.expected());
        }
        if (bind.equals("0.0.0.0") && advertise.isEmpty()) {
            throw Failures.of("--bind 0.0.0.0: a worker bound to 0.0.0.0 requires --advertise-address");
        }
        if (!bind.equals("0.0.0.0") && !advertise.isEmpty()) {
            throw Failures.of(
                    "--advertise-address \"" + advertise + "\" needs a worker bound to 0.0.0.0, and --bind is " + bind);
        }
        Map<String, Map<String, Object>> pids = new HashMap<>();
        pids.put(
                "org.nemorelay.worker",
                Map.of(
                        "daemon_address", daemonUrl("--daemon-address", address).argument(),
                        "bind", bind,
                        "port", checkedInt("--port", SettingType.PORT, options.flag("port"), 0),
                        "advertise_address", advertise,
                        "observation_capture_bytes",
                                checkedInt(
                                        CAPTURE_VARIABLE,
                                        SettingType.POSITIVE_INT,
                                        Optional.ofNullable(
                                                options.environment().get(CAPTURE_VARIABLE)),
                                        DEFAULT_CAPTURE_BYTES)));
        shared(layers, pids);
        return new RoleConfiguration(
                Map.copyOf(pids),
                files.logging(),
                Optional.of(files.plan()),
                List.copyOf(notes),
                layers.merged(),
                List.copyOf(files.sources().files),
                Set.copyOf(files.sources().silent));
    }

    private static Optional<Path> userPath(LaunchOptions options) {
        return options.flag("config")
                .map(Path::of)
                .or(() -> userFolder(options.environment()).map(folder -> folder.resolve(CONFIG_FILE)));
    }

    /** A relative path counts as none: it would be another folder in each working folder, which may be anybody's. */
    private static Optional<Path> userFolder(Map<String, String> environment) {
        String xdg = environment.getOrDefault("XDG_CONFIG_HOME", "");
        if (xdg.startsWith("/")) {
            return Optional.of(Path.of(xdg, "nemo-relay"));
        }
        String home = environment.getOrDefault("HOME", "");
        return home.startsWith("/") ? Optional.of(Path.of(home, ".config", "nemo-relay")) : Optional.empty();
    }

    private static void checkAdvertised(Layers layers, String bind, boolean tls) {
        boolean everywhere = bind.equals("0.0.0.0");
        String name = "daemon.advertise_address";
        String advertise = text(layers, name);
        if (advertise.isEmpty()) {
            if (everywhere) {
                throw Failures.of(
                        inFile(layers, "daemon.bind") + "a daemon bound to 0.0.0.0 requires --advertise-address");
            }
            return;
        }
        String origin = origin(layers, name);
        String key = inFile(layers, name).isEmpty() ? origin : origin + ": [daemon] advertise_address";
        DaemonUrl url = daemonUrl(key + " \"" + advertise + "\"", advertise);
        if (url.loopback() && everywhere) {
            throw Failures.of(
                    key + " \"" + advertise + "\": a daemon bound to 0.0.0.0 must advertise a concrete reachable host");
        }
        if (tls && !url.secure()) {
            throw Failures.of(key + " \"" + advertise
                    + "\": the advertised daemon URL must use https when native TLS is configured");
        }
    }

    /** The place in a file where a setting stands, before what is wrong with it; nothing for an option. */
    private static String inFile(Layers layers, String name) {
        String origin = origin(layers, name);
        return origin.startsWith("--") || origin.equals("default") ? "" : origin + ": ";
    }

    private static DaemonUrl daemonUrl(String source, String text) {
        try {
            return DaemonUrl.parse(text);
        } catch (RelayException e) {
            throw new RelayException(FailureKind.CONFIGURATION, source + ": " + e.getMessage(), e);
        }
    }

    private static void shared(Layers layers, Map<String, Map<String, Object>> pids) {
        pids.put(
                "org.nemorelay.upstream",
                Map.of(
                        "openai_base_url", text(layers, "upstream.openai_base_url"),
                        "openai_auth_header", text(layers, "upstream.openai_auth_header"),
                        "anthropic_base_url", text(layers, "upstream.anthropic_base_url"),
                        "anthropic_auth_header", text(layers, "upstream.anthropic_auth_header"),
                        "chatgpt_codex_base_url", text(layers, "upstream.chatgpt_codex_base_url"),
                        "response_timeout_secs",
                                layers.value("upstream.response_timeout_secs").orElseThrow()));
        pids.put(
                "org.nemorelay.gateway",
                Map.of(
                        "max_hook_payload_bytes",
                                layers.value("gateway.max_hook_payload_bytes").orElseThrow(),
                        "max_passthrough_body_bytes",
                                layers.value("gateway.max_passthrough_body_bytes")
                                        .orElseThrow()));
    }

    private static LogSettings logging(LaunchOptions options, Layers layers, String section) {
        return LogSources.resolve(options.flags(), options.environment(), layers.merged(), section);
    }

    private static int checkedInt(String source, SettingType type, Optional<String> text, long otherwise) {
        if (text.isEmpty()) {
            return Math.toIntExact(otherwise);
        }
        return type.fromText(text.get())
                .map(value -> Math.toIntExact((Long) value))
                .orElseThrow(() -> Failures.of(source + " must be " + type.expected()));
    }

    private static String text(Layers layers, String name) {
        return (String) layers.value(name).orElse("");
    }

    private static boolean flag(Layers layers, String name) {
        return (Boolean) layers.value(name).orElse(false);
    }

    private static int integer(Layers layers, String name) {
        return Math.toIntExact((Long) layers.value(name).orElseThrow());
    }

    /** A count that the role itself chooses where nobody else does: 0 then. */
    private static int checkedCount(Layers layers, String name) {
        return Math.toIntExact((Long) layers.value(name).orElse(0L));
    }

    private static String origin(Layers layers, String name) {
        return layers.merged().get(name).origin();
    }

    private static Setting byDefault(Object value) {
        return new Setting(value, "default");
    }
}
