package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.Map;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;

/** 0.0.0.0 is every address of IPv4, and none of IPv6 (relay-daemon 1.1): a firewall for the one covers it. */
@Timeout(60)
final class AddressFamilyTest {
    @Test
    void allAddressesOfIpv4AreNoneOfIpv6() throws IOException {
        try (HttpEngine engine = HttpEngine.create(Map.of());
                HttpListener listener = engine.listen("0.0.0.0", 0, server -> new Handler.Abstract() {
                    @Override
                    public boolean handle(Request request, Response response, Callback callback) {
                        callback.succeeded();
                        return true;
                    }
                })) {
            try (RawClient client = new RawClient(listener.port())) {
                assertEquals(
                        200,
                        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").read().status());
            }
            try (Socket socket = new Socket()) {
                InetSocketAddress address = new InetSocketAddress("::1", listener.port());
                assertThrows(SocketException.class, () -> socket.connect(address));
            }
        }
    }
}
