package org.nemorelay.agents.internal.mcp;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Version;
import org.nemorelay.seams.Context;

/** A session with one MCP server. Safe for any thread. */
public final class McpSession implements AutoCloseable {
    private static final String PROTOCOL = "2025-06-18";
    private static final int MOST_PAGES = 100;

    /**
     * One tool.
     *
     * @param function as a model is told of it: name, description, parameters
     */
    public record Tool(String server, String name, Map<String, Object> function) {}

    private final String server;
    private final McpLink link;
    private final JsonObject capabilities;

    private McpSession(String server, McpLink link, JsonObject capabilities) {
        this.server = server;
        this.link = link;
        this.capabilities = capabilities;
    }

    static McpSession open(Context context, String server, McpLink link) throws McpException {
        try {
            JsonObject result = link.call(
                    context,
                    "initialize",
                    Json.object(
                            "protocolVersion",
                            PROTOCOL,
                            "capabilities",
                            Json.object(),
                            "clientInfo",
                            Json.object("name", "nemo-relay", "version", Version.text())));
            link.tell(context, "notifications/initialized");
            return new McpSession(
                    server, link, result.optionalObject("capabilities").orElseGet(() -> JsonObject.of(Map.of(), "")));
        } catch (JsonException e) {
            link.close();
            throw other(server, "initialize", e);
        } catch (McpException | RuntimeException e) {
            link.close();
            throw e;
        }
    }

    private static McpException other(String server, String method, JsonException e) {
        return new McpException(server + " answers " + method + " with something else: " + e.getMessage());
    }

    public String server() {
        return server;
    }

    boolean usable() {
        return link.open();
    }

    /** All tools, page by page. */
    public List<Tool> tools(Context context) throws McpException {
        List<Tool> tools = new ArrayList<>();
        for (JsonObject tool : list(context, "tools", "tools/list")) {
            try {
                String name = tool.string("name");
                tools.add(new Tool(
                        server,
                        name,
                        Json.object(
                                "name",
                                name,
                                "description",
                                tool.optionalString("description").orElse(""),
                                "parameters",
                                tool.optionalObject("inputSchema")
                                        .map(JsonObject::values)
                                        .orElseGet(() -> Json.object("type", "object")))));
            } catch (JsonException e) {
                throw other(server, "tools/list", e);
            }
        }
        return tools;
    }

    public List<String> prompts(Context context) throws McpException {
        return capabilities.has("prompts") ? names(context, "prompts", "prompts/list", "name") : List.of();
    }

    public List<String> resources(Context context) throws McpException {
        return capabilities.has("resources") ? names(context, "resources", "resources/list", "uri") : List.of();
    }

    private List<String> names(Context context, String key, String method, String name) throws McpException {
        List<String> names = new ArrayList<>();
        for (JsonObject item : list(context, key, method)) {
            try {
                names.add(item.string(name));
            } catch (JsonException e) {
                throw other(server, method, e);
            }
        }
        return names;
    }

    private List<JsonObject> list(Context context, String key, String method) throws McpException {
        List<JsonObject> items = new ArrayList<>();
        Map<String, Object> params = Json.object();
        for (int page = 0; page < MOST_PAGES; page++) {
            JsonObject result = link.call(context, method, params);
            try {
                items.addAll(result.objects(key));
                if (!result.has("nextCursor")) {
                    return items;
                }
                params = Json.object("cursor", result.string("nextCursor"));
            } catch (JsonException e) {
                throw other(server, method, e);
            }
        }
        throw new McpException(server + " has no end of " + key);
    }

    /** What a tool says, its texts in order; {@link McpException} when it says that it failed. */
    public String run(Context context, String tool, Map<String, Object> arguments) throws McpException {
        JsonObject result = link.call(context, "tools/call", Json.object("name", tool, "arguments", arguments));
        try {
            StringBuilder text = new StringBuilder();
            for (JsonObject part : result.has("content") ? result.objects("content") : List.<JsonObject>of()) {
                if (part.string("type").equals("text")) {
                    text.append(text.isEmpty() ? "" : "\n").append(part.string("text"));
                }
            }
            if (result.has("isError") && result.bool("isError")) {
                throw new McpException("tool " + tool + " of " + server + " failed: " + text);
            }
            return text.toString();
        } catch (JsonException e) {
            throw other(server, "tools/call", e);
        }
    }

    @Override
    public void close() {
        link.close();
    }
}
