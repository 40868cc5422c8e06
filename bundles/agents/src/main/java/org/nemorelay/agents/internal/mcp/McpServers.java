package org.nemorelay.agents.internal.mcp;

import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;

/**
 * The MCP servers of a model, from its configuration: those to be reached at a URL and those to be started. Each table is
 * {@code {"mcpServers": {NAME: {...}}}} or what is in it, as JSON or as a text of JSON.
 */
public record McpServers(Map<String, Server> servers) {
    /** How one server is reached. */
    public sealed interface Server {
        String type();

        record Remote(URI url, String token) implements Server {
            @Override
            public String type() {
                return "remote";
            }

            @Override
            public String toString() {
                return url.toString();
            }
        }

        record Stdio(List<String> command, Map<String, String> environment) implements Server {
            @Override
            public String type() {
                return "stdio";
            }

            @Override
            public String toString() {
                return command.getFirst();
            }
        }
    }

    /** Of a model's configuration. */
    public static McpServers of(JsonObject mcp) throws McpException {
        return of(mcp.values().get("remote"), mcp.values().get("stdio"));
    }

    /** Of the two tables of a call. */
    public static McpServers of(Object remote, Object stdio) throws McpException {
        Map<String, Server> servers = new LinkedHashMap<>();
        try {
            for (Map.Entry<String, JsonObject> entry : table("remote", remote).entrySet()) {
                JsonObject server = entry.getValue();
                servers.put(
                        entry.getKey(),
                        new Server.Remote(
                                uri(entry.getKey(), server.string("url")),
                                server.optionalString("token").orElse("")));
            }
            for (Map.Entry<String, JsonObject> entry : table("stdio", stdio).entrySet()) {
                JsonObject server = entry.getValue();
                List<String> command = new ArrayList<>();
                command.add(server.string("command"));
                command.addAll(server.has("args") ? server.strings("args") : List.of());
                if (servers.put(entry.getKey(), new Server.Stdio(List.copyOf(command), environment(server))) != null) {
                    throw new McpException("there are two MCP servers " + entry.getKey());
                }
            }
        } catch (JsonException e) {
            throw new McpException("the MCP servers are not understood: " + e.getMessage());
        }
        return new McpServers(servers);
    }

    private static Map<String, JsonObject> table(String name, Object table) {
        Map<String, JsonObject> servers = new LinkedHashMap<>();
        Object value = table instanceof String text && !text.isBlank() ? Json.parse(text) : table;
        if (value == null || value instanceof String) {
            return servers;
        }
        JsonObject object = JsonObject.of(value, name);
        JsonObject inner = object.optionalObject("mcpServers").orElse(object);
        for (String key : inner.keys()) {
            servers.put(key, inner.object(key));
        }
        return servers;
    }

    private static URI uri(String name, String text) throws McpException {
        try {
            URI uri = URI.create(text);
            if (List.of("http", "https").contains(String.valueOf(uri.getScheme())) && uri.getHost() != null) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            // Told below.
        }
        throw new McpException("MCP server " + name + ": url must be that of an HTTP server");
    }

    private static Map<String, String> environment(JsonObject server) {
        Map<String, String> environment = new TreeMap<>();
        server.optionalObject("env").ifPresent(env -> env.keys().forEach(key -> environment.put(key, env.string(key))));
        return environment;
    }
}
