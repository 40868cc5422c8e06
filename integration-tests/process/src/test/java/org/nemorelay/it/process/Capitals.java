package org.nemorelay.it.process;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.StreamOutput;

/** A plugin that writes every text of a stream in capitals. */
public final class Capitals implements StreamIntercept, StreamHandler {
    public Capitals(Map<String, Object> properties) {}

    @Override
    public StreamHandler open(ModelRequest request, ModelResponse.Streamed response) {
        return this;
    }

    @Override
    public CompletionStage<Void> onEvent(StreamEvent event, StreamOutput out) {
        StreamEvent changed = event;
        for (var part : event.texts()) {
            changed = changed.withText(part, part.text().toUpperCase(Locale.ROOT));
        }
        out.emit(changed);
        return DONE;
    }
}
