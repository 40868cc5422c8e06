package org.nemorelay.workerctl;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** One MCP server of a model. */
public record McpServerInfo(
        String name, String type, List<String> tools, List<String> prompts, List<String> resources, String error)
        implements WireRecord {
    public McpServerInfo {
        tools = List.copyOf(tools);
        prompts = List.copyOf(prompts);
        resources = List.copyOf(resources);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static McpServerInfo decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static McpServerInfo fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new McpServerInfo(
                in.string("name"),
                in.string("type"),
                in.strings("tools"),
                in.strings("prompts"),
                in.strings("resources"),
                in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("name", name)
                .put("type", type)
                .put("tools", tools)
                .strings("prompts", prompts)
                .strings("resources", resources)
                .nonEmpty("error", error)
                .done();
    }
}
