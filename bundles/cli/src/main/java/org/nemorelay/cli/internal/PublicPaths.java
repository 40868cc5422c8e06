package org.nemorelay.cli.internal;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** What a daemon tells everybody (relay-daemon 2). */
public final class PublicPaths {
    private static final int TIMEOUT_MILLIS = 5_000;
    private static final int MAX_BYTES = 16 << 20;

    private final String base;

    /** @param base scheme, host and port */
    public PublicPaths(String base) {
        this.base = base;
    }

    public JsonObject health() {
        JsonObject health = get("/healthz");
        if (!health.values().getOrDefault("service", "").equals("nemo-relay-daemon")) {
            throw new RelayException(FailureKind.UNAVAILABLE, "something else than a daemon answers at " + base);
        }
        return health;
    }

    public JsonObject workers() {
        return get("/_nemo_relay/v1/workers/status");
    }

    private JsonObject get(String path) {
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create(base + path).toURL().openConnection();
            connection.setConnectTimeout(TIMEOUT_MILLIS);
            connection.setReadTimeout(TIMEOUT_MILLIS);
            connection.setInstanceFollowRedirects(false);
            try (InputStream in = connection.getInputStream()) {
                return Json.parseObject(in.readNBytes(MAX_BYTES));
            } finally {
                connection.disconnect();
            }
        } catch (IOException | JsonException e) {
            throw new RelayException(
                    FailureKind.UNAVAILABLE,
                    "no daemon answers at " + base + "; start one with `nemo-relay daemon`",
                    e);
        }
    }
}
