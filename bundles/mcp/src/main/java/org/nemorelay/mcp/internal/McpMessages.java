package org.nemorelay.mcp.internal;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.protocol.Version;

/**
 * What MCP messages are answered with: JSON-RPC 2.0, no tools, versions 2025-11-25 and 2025-06-18 (relay-daemon 5.9).
 * Keys stand in alphabetical order, as the stock binary writes them.
 */
final class McpMessages {
    private static final String LATEST = "2025-11-25";
    private static final String OLDER = "2025-06-18";

    private static final int PARSE_ERROR = -32700;
    private static final int INVALID_REQUEST = -32600;
    private static final int METHOD_NOT_FOUND = -32601;
    private static final int INVALID_PARAMS = -32602;

    /** Set by the first {@code initialize}: what follows belongs to a session that begins with its answer. */
    private boolean initializing;

    /**
     * What to do about a message.
     *
     * @param text the answer; nothing for a notification
     * @param waits whether the answer belongs to a session that has to be registered first
     */
    record Answer(Optional<String> text, boolean waits) {}

    Answer answer(String line) {
        Object message;
        try {
            message = Json.parse(line);
        } catch (JsonException e) {
            return now(error(PARSE_ERROR, "Parse error", null));
        }
        if (!(message instanceof Map<?, ?> request)) {
            return now(error(INVALID_REQUEST, "Invalid Request", null));
        }
        if (request.containsKey("method") && !request.containsKey("id")) {
            return new Answer(Optional.empty(), false); // A notification, and a malformed one is not answered either.
        }
        Object id = request.get("id");
        boolean validId = id instanceof String || id instanceof Long || id instanceof BigInteger;
        if (!"2.0".equals(request.get("jsonrpc")) || !(request.get("method") instanceof String method) || !validId) {
            return now(error(INVALID_REQUEST, "Invalid Request", validId ? id : null));
        }
        return switch (method) {
            case "initialize" -> initialize(request.get("params"), id);
            case "ping" -> now(result(Map.of(), id));
            case "tools/list" -> new Answer(Optional.of(result(Json.object("tools", List.of()), id)), initializing);
            default -> now(error(METHOD_NOT_FOUND, "Method not found", id));
        };
    }

    private Answer initialize(Object params, Object id) {
        // Who names no version gets one that is spoken here, as who names an unknown one; the stock refuses.
        Object version = params instanceof Map<?, ?> map ? map.get("protocolVersion") : null;
        if (params != null && !(params instanceof Map<?, ?>) || version != null && !(version instanceof String)) {
            return now(error(INVALID_PARAMS, "Missing protocolVersion", id));
        }
        initializing = true;
        Map<String, Object> result = Json.object(
                "capabilities",
                Map.of(),
                "protocolVersion",
                OLDER.equals(version) ? OLDER : LATEST,
                "serverInfo",
                Json.object("name", "nemo-relay", "version", Version.text()));
        return new Answer(Optional.of(result(result, id)), true);
    }

    private static Answer now(String text) {
        return new Answer(Optional.of(text), false);
    }

    private static String result(Map<String, Object> result, Object id) {
        return Json.write(Json.object("id", id, "jsonrpc", "2.0", "result", result));
    }

    private static String error(int code, String message, Object id) {
        return Json.write(
                Json.object("error", Json.object("code", code, "message", message), "id", id, "jsonrpc", "2.0"));
    }
}
