package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.User;
import org.nemorelay.json.JsonObject;

/** What clients of either protocol version, and of none that is known here, get on their standard output. */
class McpProtocolTest {
    @TempDir
    Path folder;

    /** Never an unknown version back, never a refusal of one (B25). */
    @ParameterizedTest
    @CsvSource({
        "2025-11-25, 2025-11-25",
        "2025-06-18, 2025-06-18",
        "2024-11-05, 2025-11-25",
        "2026-07-28, 2025-11-25",
        "2099-12-31, 2025-11-25",
        "garbage, 2025-11-25"
    })
    void theVersionIsNegotiated(String asked, String given) {
        try (McpSession mcp = session()) {
            mcp.send("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\""
                    + asked + "\",\"capabilities\":{},\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}");
            assertEquals(given, mcp.answer().object("result").string("protocolVersion"));
            answersPing(mcp, 1);
            assertEquals(0, mcp.end());
        }
    }

    /** Who names none gets the newest (B25); what can be no version is an error, and the session goes on. */
    @Test
    void noVersionIsAnsweredWithTheNewest() {
        for (String params : List.of("", ",\"params\":{}", ",\"params\":{\"capabilities\":{}}")) {
            try (McpSession mcp = session()) {
                mcp.send("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"" + params + "}");
                assertEquals("2025-11-25", mcp.answer().object("result").string("protocolVersion"));
                assertEquals(0, mcp.end());
            }
        }
        try (McpSession mcp = session()) {
            mcp.send("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":5}}");
            assertEquals(-32602, code(mcp.answer()));
            assertTrue(mcp.initialize().has("result"));
            assertEquals(0, mcp.end());
        }
    }

    /** Probes before the session begins, and methods that nobody knows (B26). */
    @Test
    void unknownMethodsAreAnsweredAtOnceAndTheSessionGoesOn() {
        try (McpSession mcp = session()) {
            answersPing(mcp, 1);
            for (String method : List.of("server/discover", "totally/unknown", "resources/list", "logging/setLevel")) {
                mcp.send("{\"jsonrpc\":\"2.0\",\"id\":\"probe\",\"method\":\"" + method + "\",\"params\":{}}");
                JsonObject answer = mcp.answer();
                assertEquals("probe", answer.string("id"));
                assertEquals(-32601, code(answer), method);
            }
            mcp.initialize();
            mcp.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"totally/unknown\"}");
            assertEquals(-32601, code(mcp.answer()));
            answersPing(mcp, 3);
            assertEquals(0, mcp.end());
        }
    }

    /** The next line of output is the answer to the ping behind them (B27). */
    @Test
    void notificationsAreNeverAnswered() {
        try (McpSession mcp = session()) {
            mcp.initialize();
            for (String notification : List.of(
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}",
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\",\"params\":{}}",
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":7}",
                    "{\"jsonrpc\":\"2.0\",\"method\":[]}",
                    "{\"method\":\"notifications/progress\"}")) {
                mcp.send(notification);
            }
            answersPing(mcp, 4);
            assertEquals(0, mcp.end());
            assertEquals(
                    2, mcp.process().stdout().lines().count(), mcp.process().stdout());
        }
    }

    private McpSession session() {
        return McpSession.start(User.self(folder)
                .spec(
                        Distribution.tree().resolve("bin/nemo-relay").toString(),
                        "daemon",
                        "mcp",
                        "--daemon-address",
                        "http://127.0.0.1:1"));
    }

    private static void answersPing(McpSession mcp, int id) {
        JsonObject pong = mcp.send("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"ping\"}")
                .answer();
        assertEquals(id, pong.integer("id", 0, 9));
        assertTrue(pong.has("result"));
    }

    private static long code(JsonObject answer) {
        return answer.object("error").integer("code", -40000, 0);
    }
}
