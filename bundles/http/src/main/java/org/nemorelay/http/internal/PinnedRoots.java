package org.nemorelay.http.internal;

import java.util.LinkedHashMap;
import java.util.Map;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.nemorelay.identity.ServerTls;

/** Trust for servers that one root of their own vouches for, the last 256 of them (relay-daemon 6.4). Safe for any thread. */
final class PinnedRoots extends SslContextFactory.Client {
    private static final int MAX_ROOTS = 256;

    // Guarded by itself.
    private final Map<String, SslContextFactory.Client> contexts = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, SslContextFactory.Client> eldest) {
            return size() > MAX_ROOTS;
        }
    };

    /** What trusts this root alone. */
    SslContextFactory.Client of(String root) {
        synchronized (contexts) {
            return contexts.computeIfAbsent(root, PinnedRoots::make);
        }
    }

    private static SslContextFactory.Client make(String root) {
        SslContextFactory.Client tls = new StrictTls();
        tls.setTrustStore(ServerTls.trustOnly(root));
        try {
            tls.start();
        } catch (Exception e) {
            throw new IllegalStateException("TLS does not start", e);
        }
        return tls;
    }

    @Override
    protected void doStart() {
        // This one trusts nobody: each root has its own.
    }
}
