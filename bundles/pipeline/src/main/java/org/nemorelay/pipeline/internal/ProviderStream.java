package org.nemorelay.pipeline.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.nemorelay.pipeline.ByteSource;
import org.nemorelay.pipeline.Share;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.StreamHandler;

/**
 * A streamed answer on its way through the services.
 *
 * @param received the headers as they came
 * @param handlers each with the share that it runs in
 * @param caller whose handler the next one will be
 */
public record ProviderStream(
        ModelApi api,
        int status,
        HeaderMap headers,
        HeaderMap received,
        ByteSource source,
        List<Bound> handlers,
        Optional<Share> caller)
        implements ModelResponse.Streamed {
    /** A handler and the share that it runs in. */
    public record Bound(StreamHandler handler, Share share) {
        public Bound {
            Objects.requireNonNull(handler, "an answer through no handler");
        }
    }

    public ProviderStream {
        Objects.requireNonNull(headers, "an answer without headers");
        handlers = List.copyOf(handlers);
    }

    @Override
    public ProviderStream through(StreamHandler handler) {
        List<Bound> more = new ArrayList<>(handlers);
        more.add(new Bound(handler, caller.orElseThrow()));
        return new ProviderStream(api, status, headers, received, source, more, caller);
    }

    @Override
    public ProviderStream withHeaders(HeaderMap changed) {
        return new ProviderStream(api, status, changed, received, source, handlers, caller);
    }

    /** The same answer as another service sees it. */
    public ProviderStream seenBy(Share share) {
        return new ProviderStream(api, status, headers, received, source, handlers, Optional.of(share));
    }
}
