package org.nemorelay.config.internal;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.json.Json;

/**
 * The roles of a fleet from config.toml: {@code [distributed]}, its carriers, and the table of the role. Of the user's file
 * and the system's, the system's wins key by key.
 */
final class FleetConfiguration {
    static final String FRONTEND = "frontend";
    static final String NODE = "node";
    static final String AGENT_WORKER = "agent-worker";

    /** One instance of a carrier, as a factory configuration. */
    private record Carrier(String factoryPid, String name, Map<String, Object> properties) {}

    private static final String LOOPBACK = "127.0.0.1";
    private static final String EVERYWHERE = "0.0.0.0";
    private static final int DEFAULT_PORT = 8080;
    private static final String DEFAULT_FRONTEND = "http://127.0.0.1:" + DEFAULT_PORT;

    private final LaunchOptions options;
    private final Optional<TomlValue.Table> file;

    private FleetConfiguration(LaunchOptions options, Optional<TomlValue.Table> file) {
        this.options = options;
        this.file = file;
    }

    /** The properties of each PID of the role; an instance of a carrier has one of its own. */
    static Map<String, Map<String, Object>> resolve(
            LaunchOptions options, Optional<TomlValue.Table> user, Optional<TomlValue.Table> system) {
        Optional<TomlValue.Table> merged = user.isPresent() && system.isPresent()
                ? Optional.of(merge(user.get(), system.get()))
                : system.or(() -> user);
        return new FleetConfiguration(options, merged).resolve();
    }

    private static TomlValue.Table merge(TomlValue.Table under, TomlValue.Table over) {
        Map<String, TomlValue> entries = new LinkedHashMap<>(under.entries());
        over.entries()
                .forEach((key, value) -> entries.merge(key, value, (below, above) -> {
                    if (below instanceof TomlValue.Table one && above instanceof TomlValue.Table other) {
                        return merge(one, other);
                    }
                    return above;
                }));
        return new TomlValue.Table(entries, over.position());
    }

    private Keys table(String name) {
        Optional<TomlValue> value = file.map(table -> table.entries().get(name));
        if (value.isPresent() && !(value.get() instanceof TomlValue.Table)) {
            throw Failures.at(
                    value.get().position(),
                    "[" + name + "] must be a table, it is " + value.get().kind());
        }
        return new Keys("[" + name + "]", value.map(TomlValue.Table.class::cast));
    }

    private Map<String, Map<String, Object>> resolve() {
        Keys distributed = table("distributed");
        String chosen = distributed.text("carrier", "local");
        String dial = distributed.text("dial", "direct");
        String token = distributed.text("registration_token_file", "");
        List<Carrier> carriers = carriers(distributed.named("carriers"), token);
        distributed.nothingElse();
        check(distributed, chosen, carriers);
        checkDial(distributed, dial, carriers);

        Map<String, Map<String, Object>> pids = new LinkedHashMap<>();
        pids.put("org.nemorelay.distributed", Map.of("carrier", chosen, "dial", dial));
        String name;
        switch (options.role()) {
            case FRONTEND -> {
                Map<String, Object> frontend = frontend(token);
                pids.put("org.nemorelay.frontend", frontend);
                name = FRONTEND + "-" + frontend.get("port");
            }
            case NODE -> {
                Map<String, Object> node = node(token);
                pids.put("org.nemorelay.node", node);
                name = NODE + "-" + node.get("name");
            }
            case AGENT_WORKER -> {
                Map<String, Object> worker = agentWorker(token);
                pids.put("org.nemorelay.agents", worker);
                name = AGENT_WORKER + "-" + worker.get("name");
            }
            default -> throw new IllegalArgumentException(options.role() + " is no role of a fleet");
        }
        pids.put("org.nemorelay.admin.process", Map.of("process", name.replaceAll("[^A-Za-z0-9._-]", "-")));
        carriers.forEach(carrier -> pids.put(
                carrier.factoryPid() + ConfigurationWriter.INSTANCE + carrier.name(), dotted(carrier.properties())));
        return Map.copyOf(pids);
    }

    /** As Declarative Services name the properties of an annotation type with single underscores. */
    private static Map<String, Object> dotted(Map<String, Object> properties) {
        Map<String, Object> dotted = new LinkedHashMap<>();
        properties.forEach((name, value) -> dotted.put(name.replace('_', '.'), value));
        return dotted;
    }

    private void check(Keys distributed, String chosen, List<Carrier> carriers) {
        Optional<Carrier> carrier =
                carriers.stream().filter(one -> one.name().equals(chosen)).findFirst();
        boolean local = carrier.map(one -> one.factoryPid().endsWith(".local")).orElse(chosen.equals("local"));
        if (local) {
            throw distributed.at(
                    "carrier",
                    "is \"" + chosen + "\", which joins the parts of one process: this " + options.role()
                            + " would reach nobody; name an instance of [distributed.carriers], such as one of type \"nats\"");
        }
        if (carrier.isEmpty()) {
            throw distributed.at(
                    "carrier",
                    "names no instance: there is no [distributed.carriers." + chosen + "]; there are: "
                            + String.join(
                                    ", ", carriers.stream().map(Carrier::name).toList()));
        }
        if (carrier.get().factoryPid().endsWith(".direct")) {
            throw distributed.at(
                    "carrier", "is \"" + chosen + "\", which only dials: it has no fan-out, queues or control verbs");
        }
    }

    private static void checkDial(Keys distributed, String dial, List<Carrier> carriers) {
        if (carriers.stream().noneMatch(one -> one.name().equals(dial))) {
            throw distributed.at("dial", "names no instance: there is no [distributed.carriers." + dial + "]");
        }
    }

    /** The configured instances, and one named direct where none is. */
    private static List<Carrier> carriers(Map<String, Keys> tables, String token) {
        List<Carrier> carriers = new ArrayList<>();
        tables.forEach((name, keys) -> {
            String type = keys.required("type");
            Map<String, Object> properties = new LinkedHashMap<>();
            properties.put("carrier", name);
            switch (type) {
                case "local" -> {
                    properties.put("max_payload", (int) keys.integer("max_payload", 1, Integer.MAX_VALUE, 1 << 20));
                    agentRoute(keys, properties);
                }
                case "nats" -> {
                    nats(keys, properties);
                    agentRoute(keys, properties);
                }
                case "direct" -> properties.put("token_file", keys.text("token_file", token));
                default -> throw keys.at("type", "must be \"nats\", \"direct\" or \"local\"");
            }
            keys.nothingElse();
            carriers.add(new Carrier("org.nemorelay.carrier." + type, name, properties));
        });
        if (carriers.stream().noneMatch(one -> one.name().equals("direct"))) {
            carriers.add(new Carrier(
                    "org.nemorelay.carrier.direct", "direct", Map.of("carrier", "direct", "token_file", token)));
        }
        return List.copyOf(carriers);
    }

    private static void nats(Keys keys, Map<String, Object> properties) {
        List<String> servers = keys.texts("servers");
        if (!servers.isEmpty()) {
            for (String server : servers) {
                if (server.contains("@")) {
                    throw keys.at("servers", "must not hold credentials: they have files of their own");
                }
            }
            properties.put("servers", servers);
        }
        properties.put("discover_servers", keys.flag("discover_servers", true));
        for (String key : List.of(
                "tls_ca",
                "tls_cert",
                "tls_key",
                "user",
                "password_file",
                "token_file",
                "nkey_file",
                "credentials_file",
                "store_url",
                "store_bucket",
                "store_region",
                "store_access_key",
                "store_secret_key_file")) {
            keys.text(key).ifPresent(text -> properties.put(key, text));
        }
        together(keys, "tls_cert", "tls_key");
        together(keys, "user", "password_file");
        together(keys, "store_access_key", "store_secret_key_file");
    }

    private static void together(Keys keys, String one, String other) {
        if (keys.has(one) != keys.has(other)) {
            String there = keys.has(one) ? one : other;
            throw keys.at(there, "needs " + (keys.has(one) ? other : one));
        }
    }

    private static void agentRoute(Keys keys, Map<String, Object> properties) {
        properties.put("agent_subject", keys.textOrEmpty("agent_subject", ""));
        properties.put("agent_queue", keys.textOrEmpty("agent_queue", "agent-workers"));
    }

    private String bind(Keys keys, String credential, String credentialName) {
        String bind = keys.text("bind", LOOPBACK);
        if (!bind.equals(LOOPBACK) && credential.isEmpty()) {
            throw keys.at(
                    "bind",
                    "is not 127.0.0.1, so " + credentialName + " must be set: others could reach this "
                            + options.role());
        }
        return bind;
    }

    private Map<String, Object> frontend(String token) {
        Keys keys = table("frontend");
        String apiKey = keys.text("api_key_file", "");
        String bind = bind(keys, token, "[distributed] registration_token_file");
        bind(keys, apiKey, "[frontend] api_key_file");
        List<String> models = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (Keys model : keys.list("models")) {
            String name = model.required("name");
            if (names.contains(name)) {
                throw model.at("name", "is \"" + name + "\", which another model has already");
            }
            names.add(name);
            models.add(Json.write(Json.object(
                    "name",
                    name,
                    "backend",
                    model.required("backend"),
                    "file",
                    model.text("file", ""),
                    "context_size",
                    model.integer("context_size", 0, Integer.MAX_VALUE, 0))));
            model.nothingElse();
        }
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("bind", bind);
        properties.put("port", (int) keys.integer("port", 0, 65_535, DEFAULT_PORT));
        properties.put("registration_token_file", token);
        properties.put("api_key_file", apiKey);
        properties.put("models", List.copyOf(models));
        keys.nothingElse();
        return properties;
    }

    private Map<String, Object> node(String token) {
        Keys keys = table("node");
        String bind = bind(keys, token, "[distributed] registration_token_file");
        Optional<String> advertised = keys.text("advertise_address");
        if (bind.equals(EVERYWHERE) && advertised.isEmpty()) {
            throw keys.at("bind", "is 0.0.0.0, so [node] advertise_address must say where frontends reach this node");
        }
        List<String> backends = new ArrayList<>();
        keys.named("backends").forEach((name, backend) -> {
            List<String> command = backend.texts("command");
            if (command.isEmpty()) {
                throw backend.at("command", "is missing");
            }
            backend.nothingElse();
            backends.add(Json.write(Json.object("name", name, "command", command)));
        });
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("name", keys.text("name").orElseGet(FleetConfiguration::hostName));
        properties.put("frontend", keys.url("frontend", DEFAULT_FRONTEND));
        properties.put("bind", bind);
        properties.put("advertise_address", advertised.orElse(bind));
        properties.put("port", (int) keys.integer("port", 0, 65_535, 0));
        properties.put("data", keys.text("data", ""));
        properties.put("heartbeat_ms", keys.integer("heartbeat_ms", 100, 3_600_000, 10_000));
        properties.put("registration_token_file", token);
        properties.put("backends", List.copyOf(backends));
        keys.nothingElse();
        return properties;
    }

    private Map<String, Object> agentWorker(String token) {
        Keys keys = table("agent_worker");
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("name", keys.text("name").orElseGet(() -> "agent-" + hostName()));
        properties.put("frontend", keys.url("frontend", DEFAULT_FRONTEND));
        properties.put("registration_token_file", token);
        properties.put("api_key_file", keys.text("api_key_file", ""));
        properties.put("max_agent_runs", (int) keys.integer("max_agent_runs", 0, Integer.MAX_VALUE, 0));
        properties.put("max_tasks", (int) keys.integer("max_tasks", 0, Integer.MAX_VALUE, 0));
        properties.put("mcp_commands", keys.texts("mcp_commands"));
        properties.put("mcp_urls", keys.texts("mcp_urls"));
        properties.put("job_timeout_secs", keys.integer("job_timeout_secs", 1, 86_400, 600));
        properties.put("heartbeat_ms", keys.integer("heartbeat_ms", 100, 3_600_000, 10_000));
        keys.nothingElse();
        return properties;
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}
