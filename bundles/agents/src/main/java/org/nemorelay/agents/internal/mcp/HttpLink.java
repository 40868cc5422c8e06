package org.nemorelay.agents.internal.mcp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.nemorelay.fleet.HttpCancellation;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.Context;

/** MCP over streamable HTTP: one POST for each message, answered with JSON or as an event of a stream. */
final class HttpLink implements McpLink {
    private static final int CONNECT_MS = 10_000;
    private static final int MAX_ANSWER = 16 << 20;
    private static final Duration LONGEST = Duration.ofMinutes(10);
    private static final String SESSION = "Mcp-Session-Id";
    private static final String VERSION = "MCP-Protocol-Version";

    private final String server;
    private final URI url;
    private final String token;
    private final AtomicLong last = new AtomicLong();
    private volatile String session = "";
    private volatile String version = "";
    private volatile boolean lost;

    /** @param token bearer; empty for none */
    HttpLink(String server, URI url, String token) {
        this.server = server;
        this.url = url;
        this.token = token;
    }

    private interface Exchange<R> {
        R with(HttpURLConnection connection) throws IOException, McpException;
    }

    private <R> R post(Context context, String method, String message, Exchange<R> exchange) throws McpException {
        String what = method + " at MCP server " + server;
        context.check(what);
        try {
            HttpURLConnection connection = (HttpURLConnection) url.toURL().openConnection();
            connection.setInstanceFollowRedirects(false);
            connection.setConnectTimeout(CONNECT_MS);
            connection.setReadTimeout((int) context.remainingWithin(LONGEST).toMillis() + 1);
            connection.setRequestMethod("POST");
            connection.setDoOutput(true);
            connection.setRequestProperty("Content-Type", "application/json");
            connection.setRequestProperty("Accept", "application/json, text/event-stream");
            headers(connection);
            return HttpCancellation.<R, McpException>run(context, connection, () -> {
                try (OutputStream out = connection.getOutputStream()) {
                    out.write(message.getBytes(StandardCharsets.UTF_8));
                }
                int status = connection.getResponseCode();
                if (status >= 300) {
                    // The session is over (404), or was never one.
                    lost = lost || status == 404;
                    throw new McpException(server + " answers " + method + " with status " + status);
                }
                String given = connection.getHeaderField(SESSION);
                session = given == null ? session : given;
                return exchange.with(connection);
            });
        } catch (IOException | IllegalArgumentException e) {
            context.check(what);
            lost = true;
            throw new McpException(server + " does not answer " + method + ": " + e.getMessage());
        } catch (RuntimeException e) {
            // A connection that is closed under its reader fails in ways of its own.
            context.check(what);
            throw e;
        }
    }

    private void headers(HttpURLConnection connection) {
        if (!token.isEmpty()) {
            connection.setRequestProperty("Authorization", "Bearer " + token);
        }
        if (!session.isEmpty()) {
            connection.setRequestProperty(SESSION, session);
        }
        if (!version.isEmpty()) {
            connection.setRequestProperty(VERSION, version);
        }
    }

    @Override
    public JsonObject call(Context context, String method, Map<String, Object> params) throws McpException {
        long id = last.incrementAndGet();
        JsonObject answer = post(context, method, Rpc.request(id, method, params), connection -> {
            try (InputStream in = connection.getInputStream()) {
                String type = String.valueOf(connection.getContentType());
                return type.startsWith("text/event-stream")
                        ? event(in, id)
                        : Json.parseObject(in.readNBytes(MAX_ANSWER));
            } catch (JsonException e) {
                throw new McpException(server + " answers " + method + " with something else: " + e.getMessage());
            }
        });
        if (!Rpc.answers(answer, id)) {
            throw new McpException(server + " answers " + method + " with something else");
        }
        JsonObject result = Rpc.result(server, method, answer);
        if (method.equals("initialize") && result.values().get("protocolVersion") instanceof String agreed) {
            version = agreed;
        }
        return result;
    }

    /** The event that answers; what the server tells or asks on the way is passed over. */
    private static JsonObject event(InputStream in, long id) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        StringBuilder data = new StringBuilder();
        int size = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            size += line.length();
            if (size > MAX_ANSWER) {
                throw new IOException("the answer is larger than 16 MiB");
            }
            if (line.startsWith("data:")) {
                data.append(line.substring(5)).append('\n');
            } else if (line.isEmpty() && !data.isEmpty()) {
                JsonObject message = Json.parseObject(data.toString());
                data.setLength(0);
                if (Rpc.answers(message, id)) {
                    return message;
                }
            }
        }
        throw new IOException("the stream ended without the answer");
    }

    @Override
    public void tell(Context context, String method) throws McpException {
        post(context, method, Rpc.notification(method), connection -> {
            connection.getInputStream().close();
            return true;
        });
    }

    @Override
    public boolean open() {
        return !lost;
    }

    /** Tells the server that the session is over, as far as it answers at once. */
    @Override
    public void close() {
        if (session.isEmpty() || lost) {
            return;
        }
        lost = true;
        try {
            HttpURLConnection connection = (HttpURLConnection) url.toURL().openConnection();
            connection.setConnectTimeout(1_000);
            connection.setReadTimeout(1_000);
            connection.setRequestMethod("DELETE");
            headers(connection);
            connection.getResponseCode();
            connection.disconnect();
        } catch (IOException | IllegalArgumentException e) {
            // It forgets the session in its own time.
        }
    }
}
