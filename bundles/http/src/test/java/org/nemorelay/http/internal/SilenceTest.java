package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.http.Forwarder;
import org.nemorelay.http.WireProtocol;
import org.nemorelay.protocol.TimeScale;

/**
 * A model that thinks longer than an unused connection is kept is waited for, before its head and within its stream, over
 * every pair of protocols. Unused connections end after 3 s at the listener and 1.2 s in the pools here, unused addresses are
 * forgotten after 6 s.
 */
@Timeout(60)
final class SilenceTest {
    private static final String SCALE = "100";
    private static final Duration SILENCE = Duration.ofSeconds(8);

    @TempDir
    private Path folder;

    private final CountDownLatch silence = new CountDownLatch(1);

    @Test
    void neverEndsAnExchange() throws Exception {
        TestCertificates certificates = new TestCertificates(folder);
        certificates.issue("server", "dns:localhost,ip:127.0.0.1");
        Map<String, String> environment = new HashMap<>(certificates.trusting("authority"));
        environment.put(TimeScale.VARIABLE, SCALE);
        try (RawProvider http1 = new RawProvider(this::serve);
                RawProvider https1 = new RawProvider(http1Only(certificates), this::serve);
                HttpsUpstreamTest.Http2Provider https2 =
                        new HttpsUpstreamTest.Http2Provider(certificates, new Held(silence));
                Relay cleartext = new Relay(http1.origin(), environment);
                Relay held = new Relay(http1.origin(), environment, this::afterSilence);
                Relay overHttp1 = cleartext.behind(WireProtocol.HTTP_1_1);
                Relay overH2c = cleartext.behind(WireProtocol.H2C);
                Relay secure1 = new Relay("https://localhost:" + https1.port(), environment);
                Relay secure2 = new Relay("https://localhost:" + https2.port(), environment)) {
            Map<String, RawClient> waiting = new LinkedHashMap<>();
            Map<String, Relay> ways = new LinkedHashMap<>();
            ways.put("HTTP/1.1", cleartext);
            ways.put("HTTP/1.1, held by a plugin", held);
            ways.put("HTTP/1.1, HTTP/1.1", overHttp1);
            ways.put("h2c, HTTP/1.1", overH2c);
            ways.put("HTTPS with HTTP/1.1", secure1);
            ways.put("HTTPS with HTTP/2", secure2);
            for (Relay way : ways.values()) {
                // The first request of a way reads trusted authorities, which on a busy machine takes as long as a
                // silence.
                try (RawClient client = new RawClient(way.port())) {
                    client.send("POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
                    assertEquals("onetwo", client.read().text());
                }
            }
            for (Map.Entry<String, Relay> way : ways.entrySet()) {
                for (String path : List.of("/early", "/late")) {
                    RawClient client = new RawClient(way.getValue().port());
                    client.send("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
                    waiting.put(way.getKey() + " " + path, client);
                }
            }
            long end = System.nanoTime() + SILENCE.toNanos();
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
            silence.countDown();
            List<String> wrong = new ArrayList<>();
            for (Map.Entry<String, RawClient> entry : waiting.entrySet()) {
                try (RawClient client = entry.getValue()) {
                    String text = client.read().text();
                    if (!text.equals("onetwo")) {
                        wrong.add(entry.getKey() + ": " + text);
                    }
                } catch (IOException | RuntimeException e) {
                    wrong.add(entry.getKey() + ": " + e);
                }
            }
            assertEquals(List.of(), wrong);
        }
    }

    private void afterSilence(Request request, Runnable forward) {
        Forwarder.watch(request);
        if (request.getHttpURI().getPath().equals("/now")) {
            forward.run();
            return;
        }
        Thread.ofVirtual().start(() -> {
            try {
                silence.await();
                forward.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private void serve(RawProvider.Exchange exchange) throws Exception {
        String head = exchange.head();
        exchange.body(head);
        if (head.startsWith("POST /now ")) {
            exchange.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\nonetwo");
            return;
        }
        boolean early = head.startsWith("POST /early ");
        String begin = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n";
        if (early) {
            exchange.send(begin);
        }
        silence.await();
        exchange.send((early ? "" : begin) + "3\r\ntwo\r\n0\r\n\r\n");
        exchange.peerCloses();
    }

    private static SSLServerSocket http1Only(TestCertificates certificates) throws Exception {
        SSLServerSocket socket = (SSLServerSocket) certificates
                .server("server")
                .getServerSocketFactory()
                .createServerSocket(0, 64, InetAddress.getLoopbackAddress());
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {"http/1.1"});
        socket.setSSLParameters(parameters);
        return socket;
    }

    /** The same answer from a handler, whatever it is spoken over. */
    private static final class Held extends Handler.Abstract {
        private final CountDownLatch silence;

        Held(CountDownLatch silence) {
            this.silence = silence;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            boolean early = request.getHttpURI().getPath().equals("/early");
            if (early) {
                response.write(false, text("one"), Callback.NOOP);
            }
            if (!request.getHttpURI().getPath().equals("/now")) {
                silence.await();
            }
            response.write(true, text(early ? "two" : "onetwo"), callback);
            return true;
        }

        private static ByteBuffer text(String text) {
            return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
        }
    }
}
