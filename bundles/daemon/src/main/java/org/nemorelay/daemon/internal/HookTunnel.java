package org.nemorelay.daemon.internal;

import java.util.List;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.HttpStream;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.nemorelay.http.Answers;
import org.nemorelay.identity.HookTlsIdentity;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * {@code GET /bootstrap/tunnel}: the connection becomes TLS 1.3 under the hook identity, and inside it HTTP/1.1 reaches the
 * same handlers (relay-daemon 0.1). Nothing of TLS is loaded before the first one.
 */
final class HookTunnel {
    static final String PATH = "/bootstrap/tunnel";
    private static final String PROTOCOL = "nemo-relay-tls";

    private final Server server;
    private final HookTlsIdentity identity;
    private final EventLog log;

    // Guarded by this.
    private SslConnectionFactory tls;

    HookTunnel(Server server, HookTlsIdentity identity, EventLog log) {
        this.server = server;
        this.identity = identity;
        this.log = log;
    }

    void handle(Request request, Response response, Callback callback) {
        List<String> wanted = request.getHeaders().getValuesList(HttpHeader.UPGRADE);
        if (request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_2
                || !wanted.equals(List.of(PROTOCOL))) {
            Answers.empty(response, callback, 403);
            return;
        }
        // The first one loads keys and classes, and this thread serves everybody.
        server.getThreadPool().execute(() -> upgrade(request, response, callback));
    }

    private void upgrade(Request request, Response response, Callback callback) {
        try {
            EndPoint endPoint = request.getConnectionMetaData().getConnection().getEndPoint();
            request.setAttribute(
                    HttpStream.UPGRADE_CONNECTION_ATTRIBUTE,
                    tls().newConnection(request.getConnectionMetaData().getConnector(), endPoint));
        } catch (Exception e) {
            log.log(
                    Level.ERROR,
                    TransitionLog.TARGET,
                    "hook_tunnel_failed",
                    "Hooks cannot be served over TLS: " + e.getMessage(),
                    "error_kind",
                    (e instanceof RelayException failure ? failure.kind() : FailureKind.INTERNAL).word());
            Answers.error(response, callback, 503, "the hook TLS identity cannot be used");
            return;
        }
        response.setStatus(101);
        HttpFields.Mutable fields = response.getHeaders();
        fields.put(HttpHeader.CONNECTION, "upgrade");
        fields.put(HttpHeader.UPGRADE, PROTOCOL);
        callback.succeeded();
    }

    private synchronized SslConnectionFactory tls() throws Exception {
        if (tls == null) {
            SslContextFactory.Server context = new SslContextFactory.Server();
            context.setKeyStore(identity.keyStore());
            context.setKeyStorePassword("");
            context.setIncludeProtocols("TLSv1.3");
            SslConnectionFactory fresh = new SslConnectionFactory(context, HttpVersion.HTTP_1_1.asString());
            fresh.start();
            server.addBean(fresh, true);
            tls = fresh;
        }
        return tls;
    }
}
