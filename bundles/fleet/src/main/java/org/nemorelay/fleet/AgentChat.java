package org.nemorelay.fleet;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** An agent run on its queue ({@code AgentChatEvent}, distributed-seams 3.3). */
public record AgentChat(
        String agentName, String userId, String message, String messageId, String role, Optional<JsonObject> config) {
    public byte[] encode() {
        Map<String, Object> json =
                Json.object("agent_name", agentName, "user_id", userId, "message", message, "message_id", messageId);
        if (!role.isEmpty()) {
            json.put("role", role);
        }
        config.ifPresent(record -> json.put("config", record));
        return Json.write(json).getBytes(StandardCharsets.UTF_8);
    }

    /** @throws org.nemorelay.json.JsonException for what is no such event */
    public static AgentChat decode(byte[] body) {
        JsonObject json = Json.parseObject(body);
        return new AgentChat(
                json.string("agent_name"),
                json.optionalString("user_id").orElse(""),
                json.optionalString("message").orElse(""),
                json.optionalString("message_id").orElse(""),
                json.optionalString("role").orElse(""),
                json.optionalObject("config"));
    }
}
