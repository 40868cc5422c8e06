package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.WireProtocol;
import org.nemorelay.identity.TrustedAuthorities;
import org.nemorelay.protocol.TimeScale;

/** A server on another machine that cannot be reached any more is told from one whose model thinks (relay-daemon 6.4). */
@Timeout(60)
final class CutPathTest {
    /** Given up after 3 s without an answer. */
    private static final SilenceWatch.Patience PATIENCE = new SilenceWatch.Patience(100, 5, 30);

    @TempDir
    private Path folder;

    @Test
    void endsItsRequestsAndNobodyElses() throws Exception {
        TestCertificates certificates = new TestCertificates(folder);
        certificates.issue("server", "dns:localhost,ip:127.0.0.1");
        CountDownLatch thought = new CountDownLatch(1);
        HttpEngine engine = new JettyHttpEngine(
                () -> TrustedAuthorities.read(certificates.trusting("authority")),
                new TimeScale(1),
                Refusals.UNTOLD,
                PATIENCE);
        try (HttpsUpstreamTest.Http2Provider provider =
                        new HttpsUpstreamTest.Http2Provider(certificates, new Thinking(thought));
                Way path = new Way(provider.port());
                Relay cut =
                        new Relay(engine, true, "https://localhost:" + path.port(), WireProtocol.HTTP_1_1, to -> to);
                Relay whole = new Relay(
                        engine, false, "https://localhost:" + provider.port(), WireProtocol.HTTP_1_1, to -> to);
                RawClient thinks = new RawClient(whole.port());
                RawClient streams = new RawClient(cut.port());
                RawClient waits = new RawClient(cut.port());
                RawClient after = new RawClient(cut.port())) {
            thinks.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
            streams.send("GET /early HTTP/1.1\r\nHost: x\r\n\r\n").readHead();
            assertEquals("one", new String(streams.readChunk(), StandardCharsets.UTF_8));
            path.cut();
            waits.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
            assertThrows(IOException.class, streams::readChunk);
            RawClient.Answer answer = waits.read();
            assertEquals(502, answer.status());
            assertTrue(answer.text().contains("it was silent for 3 s, though asked"), answer.text());
            cut.ended(2);
            assertEquals(
                    1,
                    cut.outcomes.stream()
                            .filter(Outcome.BodyBroken.class::isInstance)
                            .count());
            assertEquals(
                    1,
                    cut.outcomes.stream()
                            .filter(Outcome.NoResponse.class::isInstance)
                            .count());
            after.send("GET /early HTTP/1.1\r\nHost: x\r\n\r\n").readHead();
            thought.countDown();
            assertEquals("onetwo", thinks.read().text());
            assertInstanceOf(Outcome.Completed.class, whole.outcome());
        }
    }

    /** Answers at once, or when the model has thought. */
    private static final class Thinking extends Handler.Abstract {
        private final CountDownLatch thought;

        Thinking(CountDownLatch thought) {
            this.thought = thought;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            if (request.getHttpURI().getPath().equals("/early")) {
                response.write(false, StandardCharsets.UTF_8.encode("one"), Callback.NOOP);
            } else {
                thought.await();
                response.write(true, StandardCharsets.UTF_8.encode("onetwo"), callback);
            }
            return true;
        }
    }

    /** The way to a server: what is cut stays open and carries nothing, what is opened later is whole. */
    private static final class Way implements AutoCloseable {
        private final ServerSocket listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        private final int to;
        private final List<Link> links = new CopyOnWriteArrayList<>();

        private record Link(Socket client, Socket server, CountDownLatch cut) {}

        Way(int to) throws IOException {
            this.to = to;
            Thread.ofVirtual().start(this::accept);
        }

        int port() {
            return listener.getLocalPort();
        }

        void cut() {
            links.forEach(link -> link.cut().countDown());
        }

        private void accept() {
            try {
                while (true) {
                    Socket client = listener.accept();
                    Link link =
                            new Link(client, new Socket(InetAddress.getLoopbackAddress(), to), new CountDownLatch(1));
                    links.add(link);
                    Thread.ofVirtual().start(() -> pump(link, link.client(), link.server()));
                    Thread.ofVirtual().start(() -> pump(link, link.server(), link.client()));
                }
            } catch (IOException e) {
                // closed
            }
        }

        private static void pump(Link link, Socket from, Socket to) {
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                byte[] bytes = new byte[8192];
                for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
                    if (link.cut().getCount() > 0) {
                        out.write(bytes, 0, n);
                    }
                }
            } catch (IOException e) {
                // closed
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
            for (Link link : links) {
                link.client().close();
                link.server().close();
            }
        }
    }
}
