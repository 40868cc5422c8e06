package org.nemorelay.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.UnreachableException;

/** Plain requests to a frontend's HTTP API. Stateless; safe for any thread. */
public final class FrontendClient {
    private static final int MAX_ANSWER = 16 << 20;
    private static final int CONNECT_MS = 5_000;

    private final String base;
    private final String bearer;

    /** @param bearer the credential; empty for none */
    public FrontendClient(String base, String bearer) {
        this.base = base.endsWith("/") ? base.substring(0, base.length() - 1) : base;
        this.bearer = bearer;
    }

    /** An answer; {@code body} is empty where it was no JSON object. */
    public record Answer(int status, JsonObject body) {
        /** What a refusal says, in either of a frontend's shapes: text, or an object with a {@code message}. */
        public String error() {
            Object error = body.values().get("error");
            Object text = error instanceof Map<?, ?> object ? object.get("message") : error;
            return text instanceof String said && !said.isEmpty() ? said : "status " + status;
        }
    }

    /**
     * Sends JSON and waits for the answer.
     *
     * @param limit for the wait for the answer, besides the context's own deadline
     * @throws UnreachableException when none came
     */
    public Answer post(Context context, String path, Map<String, Object> body, Duration limit) {
        context.check("POST " + path);
        HttpURLConnection connection = null;
        try {
            connection = (HttpURLConnection) URI.create(base + path).toURL().openConnection(Proxy.NO_PROXY);
            connection.setConnectTimeout(CONNECT_MS);
            connection.setReadTimeout((int) context.remainingWithin(limit).toMillis() + 1);
            connection.setRequestMethod("POST");
            connection.setDoOutput(true);
            connection.setRequestProperty("Content-Type", "application/json");
            if (!bearer.isEmpty()) {
                connection.setRequestProperty("Authorization", "Bearer " + bearer);
            }
            HttpURLConnection open = connection;
            return HttpCancellation.<Answer, RuntimeException>run(context, open, () -> {
                try (OutputStream out = open.getOutputStream()) {
                    out.write(Json.write(body).getBytes(StandardCharsets.UTF_8));
                }
                int status = open.getResponseCode();
                try (InputStream in = status < 400 ? open.getInputStream() : open.getErrorStream()) {
                    return new Answer(status, object(in == null ? new byte[0] : in.readNBytes(MAX_ANSWER)));
                }
            });
        } catch (IOException | IllegalArgumentException e) {
            context.check("POST " + path);
            if (connection != null) {
                connection.disconnect();
            }
            throw new UnreachableException("the frontend at " + base + " does not answer: " + e.getMessage());
        } catch (RuntimeException e) {
            // A connection that is closed under its reader fails in ways of its own.
            context.check("POST " + path);
            throw e;
        }
    }

    private static JsonObject object(byte[] body) {
        try {
            return Json.parseObject(body);
        } catch (JsonException e) {
            return JsonObject.of(Map.of(), "");
        }
    }

    @Override
    public String toString() {
        return base;
    }
}
