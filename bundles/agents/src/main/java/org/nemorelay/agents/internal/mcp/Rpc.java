package org.nemorelay.agents.internal.mcp;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;

/** The shapes of JSON-RPC 2.0. Stateless. */
final class Rpc {
    private Rpc() {}

    static String request(long id, String method, Map<String, Object> params) {
        return Json.write(Json.object("jsonrpc", "2.0", "id", id, "method", method, "params", params));
    }

    static String notification(String method) {
        return Json.write(Json.object("jsonrpc", "2.0", "method", method));
    }

    /** What a server gets that asks its client for something: nothing is served here but {@code ping}. */
    static String answer(JsonObject request) {
        Map<String, Object> answer =
                Json.object("jsonrpc", "2.0", "id", request.values().get("id"));
        if ("ping".equals(request.values().get("method"))) {
            answer.put("result", Json.object());
        } else {
            answer.put("error", Json.object("code", -32601, "message", "Method not found"));
        }
        return Json.write(answer);
    }

    static boolean asks(JsonObject message) {
        return message.has("method") && message.has("id");
    }

    static boolean answers(JsonObject message, long id) {
        return !message.has("method") && message.values().get("id") instanceof Long number && number == id;
    }

    static JsonObject result(String server, String method, JsonObject answer) throws McpException {
        try {
            if (answer.has("error")) {
                JsonObject error = answer.object("error");
                throw new McpException(server + " refuses " + method + ": "
                        + error.optionalString("message").orElse("without a reason"));
            }
            return answer.object("result");
        } catch (JsonException e) {
            throw new McpException(server + " answers " + method + " with something else: " + e.getMessage());
        }
    }
}
