package org.nemorelay.it;

import java.nio.file.Path;
import java.time.Duration;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** An MCP lifecycle client as a harness would start it, spoken to over its standard streams. */
public final class McpSession implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(35);

    private final Proc process;
    private int lines;

    private McpSession(Proc process) {
        this.process = process;
    }

    public static McpSession start(User user, Path executable, Relay relay) {
        return start(user.withToken(executable.toString(), "daemon", "mcp", "--daemon-address", relay.address())
                .env("NEMO_RELAY_LOG", "info"));
    }

    public static McpSession start(Proc.Spec spec) {
        return new McpSession(spec.start());
    }

    /** Starts and completes the MCP initialization. */
    public static McpSession initialized(User user, Path executable, Relay relay) {
        McpSession session = start(user, executable, relay);
        session.initialize();
        return session;
    }

    public JsonObject initialize() {
        send("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
                + "\"capabilities\":{},\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}");
        JsonObject answer = answer();
        send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        return answer;
    }

    public McpSession send(String line) {
        process.writeLine(line);
        return this;
    }

    public JsonObject answer() {
        return Json.parseObject(process.stdoutLine(lines++, LIMIT));
    }

    public Proc process() {
        return process;
    }

    /** Ends it as a harness does at best: end of input. */
    public int end() {
        process.closeInput();
        return process.awaitExit(Duration.ofSeconds(5));
    }

    @Override
    public void close() {
        process.close();
    }
}
