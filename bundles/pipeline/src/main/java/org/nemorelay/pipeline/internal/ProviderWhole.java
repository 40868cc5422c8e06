package org.nemorelay.pipeline.internal;

import java.util.Objects;
import java.util.Optional;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonText;
import org.nemorelay.pipeline.ContentCodings;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelResponse;

/** A provider's whole answer: its bytes as they came until a service puts another body in their place. Immutable. */
public final class ProviderWhole implements ModelResponse.Whole {
    private final ModelApi api;
    private final int status;
    private final HeaderMap headers;
    private final Received received;
    private final Optional<JsonText> changed;

    /** What came, decoded once. */
    private static final class Received {
        private final byte[] raw;
        private final HeaderMap headers;
        private final long limit;
        private volatile JsonText plain;

        Received(byte[] raw, HeaderMap headers, long limit) {
            this.raw = raw;
            this.headers = headers;
            this.limit = limit;
        }

        JsonText plain() {
            JsonText known = plain;
            if (known == null) {
                try {
                    String coding = String.join(",", headers.all("content-encoding"));
                    known = JsonText.of(ContentCodings.decode(raw, coding, limit));
                } catch (ContentCodings.Unreadable e) {
                    throw new JsonException("the provider's answer cannot be read: " + e.getMessage());
                }
                plain = known;
            }
            return known;
        }
    }

    private ProviderWhole(ModelApi api, int status, HeaderMap headers, Received received, Optional<JsonText> changed) {
        this.api = api;
        this.status = status;
        this.headers = Objects.requireNonNull(headers, "an answer without headers");
        this.received = received;
        this.changed = changed;
    }

    /** @param limit how large the body may be when it is plain */
    public static ProviderWhole of(ModelApi api, int status, HeaderMap headers, byte[] raw, long limit) {
        return new ProviderWhole(api, status, headers, new Received(raw, headers, limit), Optional.empty());
    }

    @Override
    public ModelApi api() {
        return api;
    }

    @Override
    public int status() {
        return status;
    }

    @Override
    public HeaderMap headers() {
        return headers;
    }

    @Override
    public JsonText body() {
        return changed.orElseGet(received::plain);
    }

    /** The headers as they came. */
    public HeaderMap received() {
        return received.headers;
    }

    /** The bytes as they came; empty when another body stands in their place. */
    public Optional<byte[]> raw() {
        return changed.isPresent() ? Optional.empty() : Optional.of(received.raw);
    }

    @Override
    public ProviderWhole withBody(JsonText body) {
        return new ProviderWhole(
                api, status, headers, received, Optional.of(Objects.requireNonNull(body, "an answer without a body")));
    }

    @Override
    public ProviderWhole withHeaders(HeaderMap other) {
        return new ProviderWhole(api, status, other, received, changed);
    }

    @Override
    public ProviderWhole withStatus(int other) {
        return new ProviderWhole(api, other, headers, received, changed);
    }
}
