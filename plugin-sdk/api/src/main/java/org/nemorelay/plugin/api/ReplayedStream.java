package org.nemorelay.plugin.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A streamed answer that is not a provider's. Plugins make it with {@link ModelResponse#of(ModelApi, List)}; the relay
 * plays it.
 *
 * @param handlers that the events go through, first to last
 */
public record ReplayedStream(ModelApi api, HeaderMap headers, List<StreamEvent> events, List<StreamHandler> handlers)
        implements ModelResponse.Streamed {
    public ReplayedStream {
        Objects.requireNonNull(api, "an answer without an API");
        Objects.requireNonNull(headers, "an answer without headers");
        events = List.copyOf(events);
        handlers = List.copyOf(handlers);
    }

    @Override
    public int status() {
        return 200;
    }

    @Override
    public ReplayedStream through(StreamHandler handler) {
        List<StreamHandler> more = new ArrayList<>(handlers);
        more.add(handler);
        return new ReplayedStream(api, headers, events, more);
    }

    @Override
    public ReplayedStream withHeaders(HeaderMap changed) {
        return new ReplayedStream(api, changed, events, handlers);
    }
}
