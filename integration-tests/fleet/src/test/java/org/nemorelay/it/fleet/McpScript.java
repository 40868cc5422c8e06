package org.nemorelay.it.fleet;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;

/** An MCP server in a few lines of shell, with one tool. */
final class McpScript {
    private static final String SCRIPT = """
            while IFS= read -r line; do
              id=$(printf '%s' "$line" | sed -n 's/.*"id":\\([0-9]*\\).*/\\1/p')
              case $line in
                *'"method":"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}' ;;
                *'"method":"tools/list"'*) result='{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}' ;;
                *'"method":"tools/call"'*) result='{"content":[{"type":"text","text":"the sum is 3"}]}' ;;
                *) continue ;;
              esac
              printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
            done
            """;

    private McpScript() {}

    /** A model's table of MCP servers. */
    static Map<String, Object> table() {
        return Json.object(
                "stdio",
                Json.object(
                        "mcpServers",
                        Json.object("calc", Json.object("command", "sh", "args", List.of("-c", SCRIPT)))));
    }
}
