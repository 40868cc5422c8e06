package org.nemorelay.hook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.hook.internal.HookOptions;
import org.nemorelay.hook.internal.HookRun;
import org.nemorelay.identity.HookTlsIdentity;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.ListenerProof;

/** Who is told payload and token, and who is not: every byte that a listener gets is kept. */
@Timeout(60)
class ListenerTest {
    private static final String TOKEN = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA";
    private static final String OPEN = "{\"hook_event_name\":\"SessionStart\",\"cwd\":\"secret-place\"}";
    private static final String CLOSED = "{\"hook_event_name\":\"PreToolUse\",\"cwd\":\"secret-place\"}";
    private static final String NOT_FOUND = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
    private static final String FORBIDDEN = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
    private static final String SWITCHING =
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: nemo-relay-tls\r\n\r\n";

    @TempDir
    Path home;

    private final Map<String, String> environment = new HashMap<>();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @BeforeEach
    void user() {
        environment.put("HOME", home.toString());
        environment.put("NEMO_RELAY_CLIENT_TOKEN", TOKEN);
    }

    private int run(String input, String url) {
        out.reset();
        err.reset();
        return new HookRun(
                        HookOptions.parse(new String[] {"claude", "--daemon-address", url})
                                .orElseThrow(),
                        environment,
                        Optional.empty(),
                        new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                        out,
                        new PrintStream(err, true, StandardCharsets.UTF_8))
                .run();
    }

    private StateFolder state(String name) throws IOException {
        return StateFolder.at(Files.createDirectories(home.resolve(name)).resolve("nemo-relay"));
    }

    private void refusedBothWays(Listener listener, String why) {
        assertEquals(2, run(CLOSED, listener.url()));
        assertEquals("", out.toString(StandardCharsets.UTF_8));
        assertEquals(2, err.toString(StandardCharsets.UTF_8).lines().count());
        assertTrue(err.toString(StandardCharsets.UTF_8).contains(why), err.toString(StandardCharsets.UTF_8));
        assertEquals(0, run(OPEN, listener.url()));
        assertEquals("", out.toString(StandardCharsets.UTF_8));
        assertEquals(1, err.toString(StandardCharsets.UTF_8).lines().count());
        assertTrue(err.toString(StandardCharsets.UTF_8).contains(why), err.toString(StandardCharsets.UTF_8));
        String received = listener.received();
        assertFalse(received.isEmpty());
        assertFalse(received.contains(TOKEN), received);
        assertFalse(received.contains("secret-place"), received);
        assertFalse(received.contains("hook_event_name"), received);
    }

    @Test
    void aListenerThatAnswersEverythingWith200LearnsNothing() throws Exception {
        try (Listener listener = new Listener((in, socket) -> {
            while (true) {
                Heads.read(in);
                write(socket, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
            }
        })) {
            refusedBothWays(listener, "its proof is wrong, and no certificate of a daemon is known");
            assertEquals(2, listener.connections());
            state("trusting").hookTlsIdentity();
            environment.put("XDG_CONFIG_HOME", home.resolve("trusting").toString());
            refusedBothWays(listener, "it answers with status 200");
            assertEquals(6, listener.connections());
        }
    }

    @Test
    void aListenerWithoutTheTokenLearnsNothing() throws Exception {
        state("trusting").hookTlsIdentity();
        environment.put("XDG_CONFIG_HOME", home.resolve("trusting").toString());
        try (Listener listener = new Listener((in, socket) -> {
            Heads.read(in);
            write(socket, FORBIDDEN);
        })) {
            refusedBothWays(listener, "it does not know this client token");
        }
    }

    @Test
    void aListenerThatPassesTheQuestionOnLearnsNothing() throws Exception {
        try (Listener daemon = new Listener((in, socket) -> prove(in, socket));
                Listener relaying = new Listener((in, socket) -> {
                    String question = Heads.read(in);
                    try (Socket real = new Socket(InetAddress.getLoopbackAddress(), daemon.port())) {
                        write(real, question);
                        socket.getOutputStream().write(real.getInputStream().readAllBytes());
                    }
                })) {
            refusedBothWays(relaying, "its proof is wrong");
            assertEquals(2, daemon.connections());
        }
    }

    @Test
    void aSilentOrBrokenListenerLearnsNothing() throws Exception {
        for (String answer : List.of("", "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 200 OK\r\n\r\n" + "x".repeat(2 << 20))) {
            try (Listener listener = new Listener((in, socket) -> {
                Heads.read(in);
                write(socket, answer);
            })) {
                refusedBothWays(listener, "and no certificate of a daemon is known");
            }
        }
    }

    @Test
    void aDaemonWithoutTheProofIsReachedThroughTheTunnel() throws Exception {
        HookTlsIdentity identity = state("xdg").hookTlsIdentity();
        environment.put("XDG_CONFIG_HOME", home.resolve("xdg").toString());
        try (Listener daemon = new Listener((in, socket) -> {
            String head = Heads.read(in);
            if (!head.startsWith("GET /bootstrap/tunnel ")) {
                write(socket, NOT_FOUND);
                return;
            }
            assertEquals("daemon", Heads.value(head, "X-NeMo-Relay-Bootstrap-Fingerprint"));
            assertTrue(Heads.value(head, "X-NeMo-Relay-Bootstrap-Nonce").matches("[0-9a-f]{64}"));
            write(socket, SWITCHING);
            try (SSLSocket tls = serve(socket, identity)) {
                String post = Heads.read(tls.getInputStream());
                assertEquals(TOKEN, Heads.value(post, "x-nemo-relay-client-token"));
                byte[] body = tls.getInputStream().readNBytes(Integer.parseInt(Heads.value(post, "content-length")));
                tls.getOutputStream().write(Heads.ok(body));
            }
        })) {
            assertEquals(0, run(CLOSED, daemon.url()), err.toString(StandardCharsets.UTF_8));
            assertEquals(CLOSED, out.toString(StandardCharsets.UTF_8));
            assertFalse(daemon.received().contains(TOKEN));
            assertFalse(daemon.received().contains("secret-place"));
        }
    }

    @Test
    void anotherCertificateInTheTunnelLearnsNothing() throws Exception {
        state("xdg").hookTlsIdentity();
        environment.put("XDG_CONFIG_HOME", home.resolve("xdg").toString());
        HookTlsIdentity stranger = state("stranger").hookTlsIdentity();
        try (Listener listener = new Listener((in, socket) -> {
            boolean tunnel = Heads.read(in).startsWith("GET /bootstrap/tunnel ");
            write(socket, tunnel ? SWITCHING : NOT_FOUND);
            if (tunnel) {
                serve(socket, stranger).getInputStream().readAllBytes();
            }
        })) {
            refusedBothWays(listener, "its certificate is not one that this user trusts");
        }
    }

    private static SSLSocket serve(Socket socket, HookTlsIdentity identity) throws IOException {
        try {
            KeyStore store = identity.keyStore();
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, new char[0]);
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(keys.getKeyManagers(), null, null);
            SSLSocket tls = (SSLSocket) context.getSocketFactory().createSocket(socket, null, true);
            tls.setUseClientMode(false);
            return tls;
        } catch (java.security.GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void prove(InputStream in, Socket socket) throws IOException {
        byte[] answer = ListenerProof.answer(
                TOKEN,
                ListenerProof.bytes(Heads.value(Heads.read(in), ListenerProof.NONCE_HEADER))
                        .orElseThrow(),
                new byte[ListenerProof.NONCE_LENGTH],
                ListenerProof.origin(socket.getLocalAddress(), socket.getLocalPort()));
        socket.getOutputStream().write(Heads.ok(answer));
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private interface Conversation {
        void run(InputStream in, Socket socket) throws IOException;
    }

    /** Has the same conversation on every connection and keeps all that it reads. */
    private static final class Listener implements AutoCloseable {
        private final ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"));
        private final ByteArrayOutputStream received = new ByteArrayOutputStream();
        private final List<CountDownLatch> conversations = new ArrayList<>();

        Listener(Conversation conversation) throws IOException {
            Thread.ofVirtual().start(() -> {
                while (!server.isClosed()) {
                    try {
                        Socket socket = server.accept();
                        CountDownLatch over = new CountDownLatch(1);
                        synchronized (conversations) {
                            conversations.add(over);
                        }
                        Thread.ofVirtual().start(() -> {
                            try (socket) {
                                conversation.run(new Kept(socket.getInputStream()), socket);
                                socket.shutdownOutput();
                                // What comes after the conversation is kept too.
                                new Kept(socket.getInputStream()).transferTo(OutputStream.nullOutputStream());
                            } catch (IOException e) {
                                // the hook has left
                            } finally {
                                over.countDown();
                            }
                        });
                    } catch (IOException e) {
                        return; // closed
                    }
                }
            });
        }

        String url() {
            return "http://127.0.0.1:" + port();
        }

        int port() {
            return server.getLocalPort();
        }

        int connections() {
            synchronized (conversations) {
                return conversations.size();
            }
        }

        /** All that came, once every conversation is over. */
        String received() {
            List<CountDownLatch> all;
            synchronized (conversations) {
                all = List.copyOf(conversations);
            }
            for (CountDownLatch over : all) {
                try {
                    assertTrue(over.await(20, TimeUnit.SECONDS), "a conversation does not end");
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            synchronized (received) {
                return received.toString(StandardCharsets.ISO_8859_1);
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
        }

        private final class Kept extends java.io.FilterInputStream {
            Kept(InputStream in) {
                super(in);
            }

            @Override
            public int read() throws IOException {
                int next = super.read();
                if (next >= 0) {
                    synchronized (received) {
                        received.write(next);
                    }
                }
                return next;
            }

            @Override
            public int read(byte[] buffer, int offset, int length) throws IOException {
                int count = super.read(buffer, offset, length);
                if (count > 0) {
                    synchronized (received) {
                        received.write(buffer, offset, count);
                    }
                }
                return count;
            }
        }
    }
}
