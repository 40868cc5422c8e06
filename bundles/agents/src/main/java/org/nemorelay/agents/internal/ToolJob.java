package org.nemorelay.agents.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.nemorelay.agents.internal.mcp.McpException;
import org.nemorelay.agents.internal.mcp.McpServers;
import org.nemorelay.agents.internal.mcp.McpSession;
import org.nemorelay.agents.internal.mcp.McpSession.Tool;
import org.nemorelay.agents.internal.mcp.McpSessions;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.RefusedException;

/** A prompt answered by a model that may call the tools of MCP servers. */
final class ToolJob {
    private static final int MOST_ROUNDS = 20;

    private final Chat chat;
    private final McpSessions sessions;
    private final BiConsumer<String, String> trace;

    /** @param trace told of what the model calls and what came of it: a type ({@code tool_call}, {@code tool_result}) and JSON */
    ToolJob(Chat chat, McpSessions sessions, BiConsumer<String, String> trace) {
        this.chat = chat;
        this.sessions = sessions;
        this.trace = trace;
    }

    /** @throws RefusedException when the servers cannot be used, or the model comes to no answer */
    String run(Context context, String model, String prompt, McpServers servers) {
        String what = "session error: ";
        try (McpSessions.Opened opened = sessions.open(context, model, servers)) {
            what = "list error: ";
            Map<String, McpSession> byTool = new LinkedHashMap<>();
            List<Map<String, Object>> tools = new ArrayList<>();
            for (McpSession session : opened.sessions()) {
                for (Tool tool : session.tools(context)) {
                    // The first server that offers a name has it.
                    if (byTool.putIfAbsent(tool.name(), session) == null) {
                        tools.add(Json.object("type", "function", "function", tool.function()));
                    }
                }
            }
            return converse(context, model, prompt, byTool, tools);
        } catch (McpException e) {
            throw new RefusedException(what + e.getMessage());
        }
    }

    private String converse(
            Context context,
            String model,
            String prompt,
            Map<String, McpSession> byTool,
            List<Map<String, Object>> tools) {
        List<Map<String, Object>> messages = new ArrayList<>();
        messages.add(Chat.user(prompt));
        for (int round = 0; round < MOST_ROUNDS; round++) {
            Chat.Turn turn = chat.turn(context, model, messages, tools);
            if (turn.calls().isEmpty()) {
                return turn.content();
            }
            messages.add(Json.object(
                    "role",
                    "assistant",
                    "content",
                    turn.content(),
                    "tool_calls",
                    turn.calls().stream().map(ToolJob::json).toList()));
            for (Chat.Call call : turn.calls()) {
                trace.accept("tool_call", Json.write(Json.object("name", call.name(), "arguments", call.arguments())));
                String result = result(context, byTool, call);
                trace.accept("tool_result", Json.write(Json.object("name", call.name(), "result", result)));
                messages.add(Json.object("role", "tool", "tool_call_id", call.id(), "content", result));
            }
        }
        throw new RefusedException("execution error: the model still calls tools after " + MOST_ROUNDS + " rounds");
    }

    private static Map<String, Object> json(Chat.Call call) {
        return Json.object(
                "id",
                call.id(),
                "type",
                "function",
                "function",
                Json.object("name", call.name(), "arguments", call.arguments()));
    }

    /** A tool that fails is for the model to deal with. */
    private static String result(Context context, Map<String, McpSession> byTool, Chat.Call call) {
        McpSession session = byTool.get(call.name());
        if (session == null) {
            return "error: there is no tool " + call.name();
        }
        try {
            Map<String, Object> arguments = call.arguments().isBlank()
                    ? Map.of()
                    : Json.parseObject(call.arguments()).values();
            return session.run(context, call.name(), arguments);
        } catch (JsonException e) {
            return "error: the arguments are no JSON object: " + e.getMessage();
        } catch (McpException e) {
            return "error: " + e.getMessage();
        }
    }
}
