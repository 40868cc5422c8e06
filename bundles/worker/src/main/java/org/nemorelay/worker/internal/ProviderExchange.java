package org.nemorelay.worker.internal;

import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.Outcome;
import org.nemorelay.protocol.PublicRoute;

/** Lets those who observe see an exchange, and logs a provider that failed. */
final class ProviderExchange implements ExchangeListener {
    private final PublicRoute.Family family;
    private final ExchangeListener observer;
    private final UpstreamFailureLog failures;

    ProviderExchange(PublicRoute.Family family, ExchangeListener observer, UpstreamFailureLog failures) {
        this.family = family;
        this.observer = observer;
        this.failures = failures;
    }

    @Override
    public boolean wantsBytes() {
        return observer != NONE;
    }

    @Override
    public void requestBytes(ByteBuffer bytes) {
        observer.requestBytes(bytes);
    }

    @Override
    public void requestEnd() {
        observer.requestEnd();
    }

    @Override
    public void responseHead(int status, HttpFields headers) {
        observer.responseHead(status, headers);
    }

    @Override
    public void responseBytes(ByteBuffer bytes) {
        observer.responseBytes(bytes);
    }

    @Override
    public void end(Outcome outcome) {
        observer.end(outcome);
        if (outcome instanceof Outcome.Failed failed && !(outcome instanceof Outcome.UploadAborted)) {
            failures.failed(family, failed);
        }
    }
}
