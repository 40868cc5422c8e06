package org.nemorelay.http;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.thread.Scheduler;
import org.nemorelay.http.internal.JettyHttpEngine;
import org.nemorelay.identity.ServerTls;
import org.nemorelay.identity.TrustedAuthorities;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.TimeScale;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Listeners and clients of one process, over one small thread pool, one scheduler and one pool of buffers. A service in
 * the framework; safe for any thread.
 */
@ProviderType
public interface HttpEngine extends AutoCloseable {
    /**
     * An engine outside the framework, for tests and tools; the caller closes it.
     *
     * @param environment may hold {@code SSL_CERT_FILE} and {@code SSL_CERT_DIR}
     */
    static HttpEngine create(Map<String, String> environment) {
        return JettyHttpEngine.alone(() -> TrustedAuthorities.read(environment), TimeScale.of(environment));
    }

    /**
     * Opens a cleartext listener for HTTP/1.1 and HTTP/2 with prior knowledge.
     *
     * @param handlers makes the handler of the listener's server, which is given for upgrade handlers
     * @throws RelayException CONFIGURATION when the address cannot be bound
     */
    HttpListener listen(String host, int port, Function<Server, Handler> handlers);

    /**
     * Opens a listener for HTTP/1.1 and HTTP/2 over TLS, as ALPN chooses; HTTP/1.1 for a client that offers nothing. A
     * handshake has 10 s, and 256 may be under way at once, 128 of one address; further connections are dropped
     * (relay-daemon 2).
     *
     * @throws RelayException CONFIGURATION when the address cannot be bound
     */
    HttpListener listenSecurely(String host, int port, ServerTls identity, Function<Server, Handler> handlers);

    Forwarder forwarder();

    /**
     * Sends one GET with one header of its own and nothing else, over the forwarder's connections. Completes with the
     * status, with an UPSTREAM failure that says why as a clause about the server when none came within {@code timeoutMs}.
     */
    CompletableFuture<Integer> status(
            Origin origin, WireProtocol protocol, String target, HttpField header, long timeoutMs);

    /** For deadlines that must not hold a thread; tasks must not block. */
    Scheduler scheduler();

    /** Closes clients and every listener that is still open. */
    @Override
    void close();
}
