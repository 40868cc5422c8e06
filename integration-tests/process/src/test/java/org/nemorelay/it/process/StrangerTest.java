package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** Somebody else listens on the daemon's port: every byte that the hook tells it is looked at. */
@Execution(ExecutionMode.CONCURRENT)
class StrangerTest {
    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final String OPEN = "{\"hook_event_name\":\"PostToolUse\",\"cwd\":\"a-secret-place\"}";
    private static final String CLOSED = "{\"hook_event_name\":\"PreToolUse\",\"cwd\":\"a-secret-place\"}";

    @TempDir
    Path folder;

    private final Path executable = Distribution.tree().resolve("bin/nemo-relay");

    private Proc.Spec hook(User user, int port) {
        return user.withToken(
                executable.toString(), "daemon", "hook", "claude", "--daemon-address", "http://127.0.0.1:" + port);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void learnsNothing(User user, Stranger stranger, String why) {
        Proc.Result closed = hook(user, stranger.port()).run(bytes(CLOSED), LIMIT);
        assertEquals(2, closed.exit(), closed.stderr());
        assertEquals("", closed.stdout());
        assertTrue(closed.stderr().contains("so nothing was sent to it"), closed.stderr());
        assertTrue(closed.stderr().contains(why), closed.stderr());
        Proc.Result open = hook(user, stranger.port()).run(bytes(OPEN), LIMIT);
        assertEquals(0, open.exit(), open.stderr());
        assertEquals("", open.stdout());
        assertEquals(1, open.stderr().lines().count(), open.stderr());
        stranger.neverHeard(user.token(), "a-secret-place", "hook_event_name", "ToolUse", "x-nemo-relay-client-token");
    }

    @Test
    void aServerThatSays200ToEverythingLearnsNothing() throws Exception {
        User user = User.self(folder.resolve("home"));
        try (Stranger stranger = new Stranger(Stranger::always200)) {
            learnsNothing(user, stranger, "no certificate of a daemon is known");
            assertEquals(List.of("GET /_nemo-relay/hook/v1/proof", "GET /_nemo-relay/hook/v1/proof"), stranger.asked());
        }
    }

    @Test
    void notEvenWhereTheUserKnowsACertificate() throws Exception {
        User user = User.self(folder.resolve("home"));
        user.spec(executable.toString(), "daemon", "tls-certificate").run(LIMIT);
        try (Stranger stranger = new Stranger(Stranger::always200)) {
            learnsNothing(user, stranger, "it answers with status 200");
            assertEquals(
                    List.of("GET /_nemo-relay/hook/v1/proof", "GET /bootstrap/tunnel"),
                    stranger.asked().subList(0, 2));
        }
    }

    @Test
    void aDaemonThatDoesNotKnowTheTokenLearnsNothing() throws Exception {
        try (MockProvider provider = new MockProvider();
                Relay foreign =
                        Relay.start(User.self(folder.resolve("stranger")), executable, Relay.upstream(provider));
                Stranger stranger = new Stranger(Stranger.passingOnTo(foreign.port()))) {
            User user = User.self(folder.resolve("home"));
            learnsNothing(user, stranger, "it does not know this client token");
            user.spec(executable.toString(), "daemon", "tls-certificate").run(LIMIT);
            learnsNothing(user, stranger, "its certificate is not one that this user trusts");
        }
    }

    @Test
    void whoPassesTheProofOnToTheRealDaemonLearnsNothing() throws Exception {
        try (MockProvider provider = new MockProvider()) {
            User service = User.self(folder.resolve("service"));
            User user = User.self(folder.resolve("home"));
            try (Relay relay = Relay.start(service, executable, Relay.upstream(provider), "--pass-through");
                    McpSession mcp = McpSession.start(user, executable, relay);
                    Stranger stranger = new Stranger(Stranger.passingOnTo(relay.port()))) {
                mcp.initialize();
                Proc.Result direct = hook(user, relay.port()).run(bytes(CLOSED), LIMIT);
                assertEquals(0, direct.exit(), direct.stderr());
                assertEquals("{\"continue\":true}", direct.stdout());
                learnsNothing(user, stranger, "its proof is wrong");
            }
        }
    }

    @Test
    void aSilentListenerEndsTheHookBeforeTheHarnessGivesUp() throws Exception {
        User user = User.self(folder.resolve("home"));
        try (Stranger stranger = new Stranger((in, out) -> in.transferTo(OutputStream.nullOutputStream()))) {
            long start = System.nanoTime();
            Proc.Result closed = hook(user, stranger.port()).run(bytes(CLOSED), LIMIT);
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            assertEquals(2, closed.exit(), closed.stderr());
            assertTrue(took.compareTo(Duration.ofSeconds(28)) < 0, took.toString());
            stranger.neverHeard(user.token(), "a-secret-place");
        }
    }

    @Test
    void inputThatDoesNotEndIsAClosedEvent() {
        User user = User.self(folder.resolve("home"));
        try (Proc hook = hook(user, 1).start()) {
            hook.write(bytes(OPEN));
            assertEquals(2, hook.awaitExit(Duration.ofSeconds(28)), hook.transcript());
            assertTrue(hook.stderr().contains("standard input did not end in time"), hook.stderr());
        }
    }

    private interface Conversation {
        void run(InputStream in, OutputStream out) throws IOException;
    }

    /** Listens on a port of its own and keeps all that it is told. */
    private static final class Stranger implements AutoCloseable {
        private final ServerSocket server = new ServerSocket(0, 16, InetAddress.getByName("127.0.0.1"));
        private final List<ByteArrayOutputStream> told = new CopyOnWriteArrayList<>();
        private final List<Thread> conversations = new CopyOnWriteArrayList<>();

        Stranger(Conversation conversation) throws IOException {
            Thread.ofVirtual().start(() -> {
                while (!server.isClosed()) {
                    try {
                        Socket socket = server.accept();
                        ByteArrayOutputStream heard = new ByteArrayOutputStream();
                        told.add(heard);
                        conversations.add(Thread.ofVirtual().start(() -> listen(socket, heard, conversation)));
                    } catch (IOException e) {
                        return; // closed
                    }
                }
            });
        }

        private static void listen(Socket socket, ByteArrayOutputStream heard, Conversation conversation) {
            try (socket) {
                InputStream in = new InputStream() {
                    @Override
                    public int read() throws IOException {
                        int next = socket.getInputStream().read();
                        if (next >= 0) {
                            heard.write(next);
                        }
                        return next;
                    }

                    @Override
                    public int read(byte[] buffer, int offset, int length) throws IOException {
                        int count = socket.getInputStream().read(buffer, offset, length);
                        if (count > 0) {
                            heard.write(buffer, offset, count);
                        }
                        return count;
                    }
                };
                conversation.run(in, socket.getOutputStream());
                in.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                // the hook has left
            }
        }

        static void always200(InputStream in, OutputStream out) throws IOException {
            StringBuilder head = new StringBuilder();
            for (int c = in.read(); c >= 0; c = in.read()) {
                head.append((char) c);
                if (head.indexOf("\r\n\r\n") >= 0) {
                    head.setLength(0);
                    out.write(bytes("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 17\r\n\r\n"
                            + "{\"continue\":true}"));
                }
            }
        }

        /** Both ways, byte by byte, with the head's host left as the hook wrote it. */
        static Conversation passingOnTo(int port) {
            return (in, out) -> {
                try (Socket real = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    Thread back = Thread.ofVirtual().start(() -> {
                        try {
                            real.getInputStream().transferTo(out);
                        } catch (IOException e) {
                            // one of them has left
                        }
                    });
                    in.transferTo(real.getOutputStream());
                    real.shutdownOutput();
                    back.interrupt();
                }
            };
        }

        int port() {
            return server.getLocalPort();
        }

        List<String> asked() {
            return told.stream()
                    .map(heard -> heard.toString(StandardCharsets.ISO_8859_1))
                    .map(text -> text.substring(0, text.indexOf(" HTTP/1.1")))
                    .toList();
        }

        void neverHeard(String... secrets) {
            Await.until(
                    "every conversation is over",
                    LIMIT,
                    () -> conversations.stream().noneMatch(Thread::isAlive));
            assertFalse(told.isEmpty());
            for (ByteArrayOutputStream heard : told) {
                String text = heard.toString(StandardCharsets.ISO_8859_1);
                for (String secret : secrets) {
                    assertFalse(text.contains(secret), text);
                }
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }
}
