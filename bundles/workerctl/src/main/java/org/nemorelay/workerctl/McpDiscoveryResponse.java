package org.nemorelay.workerctl;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Servers and their tools, or an error; both are the worker's own answer. */
public record McpDiscoveryResponse(List<McpServerInfo> servers, List<McpToolDef> tools, String error)
        implements WireRecord {
    public McpDiscoveryResponse {
        servers = List.copyOf(servers);
        tools = List.copyOf(tools);
    }

    /** The worker's refusal. */
    public static McpDiscoveryResponse refused(String error) {
        return new McpDiscoveryResponse(List.of(), List.of(), error);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static McpDiscoveryResponse decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static McpDiscoveryResponse fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new McpDiscoveryResponse(
                in.records("servers", McpServerInfo::fromJson),
                in.records("tools", McpToolDef::fromJson),
                in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .records("servers", servers)
                .records("tools", tools)
                .nonEmpty("error", error)
                .done();
    }
}
