package org.nemorelay.plugin.api;

import java.util.Objects;
import org.nemorelay.json.JsonText;

/** An answer that a plugin makes without a provider. */
record OwnResponse(ModelApi api, int status, HeaderMap headers, JsonText body) implements ModelResponse.Whole {
    OwnResponse {
        Objects.requireNonNull(api, "an answer without an API");
        Objects.requireNonNull(headers, "an answer without headers");
        Objects.requireNonNull(body, "an answer without a body");
    }

    @Override
    public ModelResponse.Whole withBody(JsonText changed) {
        return new OwnResponse(api, status, headers, changed);
    }

    @Override
    public ModelResponse.Whole withHeaders(HeaderMap changed) {
        return new OwnResponse(api, status, changed, body);
    }

    @Override
    public ModelResponse.Whole withStatus(int changed) {
        return new OwnResponse(api, changed, headers, body);
    }
}
