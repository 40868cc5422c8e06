package org.nemorelay.plugin.api;

import org.nemorelay.json.JsonText;

/** An answer that a plugin makes without a provider. */
record OwnResponse(ModelApi api, int status, HeaderMap headers, JsonText body) implements ModelResponse.Whole {
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
