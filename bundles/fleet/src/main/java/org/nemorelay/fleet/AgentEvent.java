package org.nemorelay.fleet;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/**
 * Something that an agent tells ({@code agent.<name>.events.<user>}, distributed-seams 3.4).
 *
 * @param eventType {@code json_message} or {@code json_message_status}
 * @param metadata JSON text; empty for none
 * @param timestamp milliseconds since 1970, set when it is published
 */
public record AgentEvent(
        String agentName,
        String userId,
        String eventType,
        String sender,
        String content,
        String messageId,
        String metadata,
        long timestamp) {
    public static final String MESSAGE = "json_message";
    public static final String STATUS = "json_message_status";

    public byte[] encode() {
        Map<String, Object> json = Json.object("agent_name", agentName, "user_id", userId, "event_type", eventType);
        String[] optional = {"sender", sender, "content", content, "message_id", messageId, "metadata", metadata};
        for (int i = 0; i < optional.length; i += 2) {
            if (!optional[i + 1].isEmpty()) {
                json.put(optional[i], optional[i + 1]);
            }
        }
        json.put("timestamp", timestamp);
        return Json.write(json).getBytes(StandardCharsets.UTF_8);
    }

    /** @throws org.nemorelay.json.JsonException for what is no such event */
    public static AgentEvent decode(byte[] body) {
        JsonObject json = Json.parseObject(body);
        return new AgentEvent(
                json.string("agent_name"),
                json.optionalString("user_id").orElse(""),
                json.string("event_type"),
                json.optionalString("sender").orElse(""),
                json.optionalString("content").orElse(""),
                json.optionalString("message_id").orElse(""),
                json.optionalString("metadata").orElse(""),
                json.has("timestamp") ? json.integer("timestamp", 0, Long.MAX_VALUE) : 0);
    }
}
