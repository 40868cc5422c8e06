package org.nemorelay.daemon.internal;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.websocket.core.Configuration;
import org.eclipse.jetty.websocket.core.WebSocketComponents;
import org.eclipse.jetty.websocket.core.server.WebSocketMappings;
import org.nemorelay.http.Answers;
import org.nemorelay.protocol.control.Role;

/** A GET on a control path becomes a {@link ControlSocket}, or is refused as the reference daemon does (relay-daemon 2). */
final class ControlUpgrade {
    private static final HttpField RETRY_AFTER_WINDOW =
            new HttpField(HttpHeader.RETRY_AFTER, Long.toString(Admission.WINDOW_MS / 1_000));

    private final Admission admission;
    private final TrustedProxies proxies;
    private final Clock clock;
    private final RequestLog log;
    private final WebSocketMappings mappings;

    ControlUpgrade(Server server, Admission admission, TrustedProxies proxies, Clock clock, RequestLog log) {
        this.admission = admission;
        this.proxies = proxies;
        this.clock = clock;
        this.log = log;
        WebSocketComponents components =
                new WebSocketComponents(null, null, server.getByteBufferPool(), null, null, server.getThreadPool());
        server.addBean(components);
        mappings = new WebSocketMappings(components);
    }

    void handle(Request request, Response response, Callback callback, Role role, ControlPlane plane) {
        InetAddress client = client(request);
        Admission.Verdict verdict = admission.admit(client, clock.monotonicMs());
        if (verdict != Admission.Verdict.ADMITTED) {
            log.upgradeRefused(client.getHostAddress(), verdict, admission.limit(client));
            Answers.error(response, callback, 429, "authentication challenge rate limit exceeded", RETRY_AFTER_WINDOW);
            return;
        }
        if (!plane.open()) {
            Answers.error(response, callback, 503, "the daemon is stopping");
            return;
        }
        HttpFields headers = request.getHeaders();
        String refusal = refusal(request, headers);
        if (!refusal.isEmpty()) {
            text(response, callback, refusal);
            return;
        }
        boolean upgraded = mappings.upgrade(
                (upgradeRequest, upgradeResponse, upgradeCallback) -> {
                    upgradeResponse.setExtensions(List.of());
                    return new ControlSocket(role, client, plane);
                },
                request,
                response,
                callback,
                new Configuration.ConfigurationCustomizer());
        if (!upgraded) {
            text(response, callback, "the WebSocket upgrade is malformed");
        }
    }

    private static String refusal(Request request, HttpFields headers) {
        if (request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_2
                || !headers.contains(HttpHeader.CONNECTION, "upgrade")) {
            return "Connection header did not include 'upgrade'";
        }
        if (!headers.contains(HttpHeader.UPGRADE, "websocket")) {
            return "`Upgrade` header did not include 'websocket'";
        }
        if (!"13".equals(headers.get(HttpHeader.SEC_WEBSOCKET_VERSION))) {
            return "`Sec-WebSocket-Version` header did not include '13'";
        }
        return headers.contains(HttpHeader.SEC_WEBSOCKET_KEY) ? "" : "`Sec-WebSocket-Key` header missing";
    }

    private InetAddress client(Request request) {
        InetAddress connected =
                request.getConnectionMetaData().getRemoteSocketAddress() instanceof InetSocketAddress address
                        ? address.getAddress()
                        : InetAddress.getLoopbackAddress();
        return proxies.client(connected, request.getHeaders());
    }

    private static void text(Response response, Callback callback, String message) {
        byte[] body = message.getBytes(StandardCharsets.US_ASCII);
        HttpFields.Mutable headers = response.getHeaders();
        headers.put(HttpHeader.CONTENT_TYPE, "text/plain; charset=utf-8");
        headers.put(HttpHeader.CONTENT_LENGTH, body.length);
        response.setStatus(400);
        response.write(true, ByteBuffer.wrap(body), callback);
    }
}
