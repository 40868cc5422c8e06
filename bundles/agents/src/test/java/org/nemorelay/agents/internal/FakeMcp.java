package org.nemorelay.agents.internal;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;

/** An MCP server in a few lines of shell: two tools, of which one fails, and one prompt. */
final class FakeMcp {
    static final String SCRIPT = """
            while IFS= read -r line; do
              id=$(printf '%s' "$line" | sed -n 's/.*"id":\\([0-9]*\\).*/\\1/p')
              case $line in
                *'"method":"initialize"'*)
                  result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
                *'"method":"tools/list"'*cursor*)
                  result='{"tools":[{"name":"fail"}]}' ;;
                *'"method":"tools/list"'*)
                  result='{"tools":[{"name":"add","description":"adds","inputSchema":{"type":"object","properties":{"a":{"type":"integer"}}}}],"nextCursor":"2"}' ;;
                *'"method":"prompts/list"'*)
                  result='{"prompts":[{"name":"greet"}]}' ;;
                *'"method":"tools/call"'*'"name":"fail"'*)
                  result='{"content":[{"type":"text","text":"out of order"}],"isError":true}' ;;
                *'"method":"tools/call"'*)
                  echo '{"jsonrpc":"2.0","id":"s1","method":"ping"}'
                  read -r pong
                  case $pong in *'"id":"s1"'*'"result"'*) ;; *) exit 7 ;; esac
                  result='{"content":[{"type":"text","text":"sum"},{"type":"image","data":"x"},{"type":"text","text":"3"}]}' ;;
                *) continue ;;
              esac
              printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
            done
            """;

    private FakeMcp() {}

    static Map<String, Object> server(String script) {
        return Json.object("command", "sh", "args", List.of("-c", script));
    }

    /** A model's table with this server. */
    static Map<String, Object> table() {
        return Json.object("stdio", stdio(SCRIPT));
    }

    static Map<String, Object> stdio(String script) {
        return Json.object("mcpServers", Json.object("calc", server(script)));
    }
}
