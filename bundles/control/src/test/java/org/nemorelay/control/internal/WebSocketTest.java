package org.nemorelay.control.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.protocol.control.Ids;

/** Everything for which a client gives its connection up, one by one (relay-daemon 3.8). */
@Timeout(120)
class WebSocketTest {
    private static final long SECOND = 1_000_000_000L;

    private ServerSocket server;
    private volatile Socket peer;

    @BeforeEach
    void listen() throws IOException {
        server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
        if (peer != null) {
            peer.close();
        }
    }

    private WebSocket open(long seconds) {
        return WebSocket.open(
                new DaemonUrl(false, "127.0.0.1", server.getLocalPort()),
                ControlPaths.MCP,
                new Ids(),
                new ClientTls(Map.of()),
                System.nanoTime() + seconds * SECOND);
    }

    /** Answers the upgrade with this head, in which {@code ACCEPT} is the right key, and sends these bytes after it. */
    private void answer(String head, byte[] more) {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                peer = server.accept();
                StringBuilder request = new StringBuilder();
                while (request.indexOf("\r\n\r\n") < 0) {
                    request.append((char) peer.getInputStream().read());
                }
                String key = request.toString().replaceAll("(?s).*Sec-WebSocket-Key: (\\S+).*", "$1");
                byte[] digest = MessageDigest.getInstance("SHA-1")
                        .digest((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.US_ASCII));
                peer.getOutputStream()
                        .write(head.replace("ACCEPT", Base64.getEncoder().encodeToString(digest))
                                .getBytes(StandardCharsets.US_ASCII));
                peer.getOutputStream().write(more);
                if (head.isEmpty()) {
                    peer.close();
                }
            } catch (IOException | GeneralSecurityException e) {
                // The client's side tells.
            }
        });
    }

    private WebSocket upgraded(byte[] frames) {
        answer("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: ACCEPT\r\n\r\n", frames);
        return open(20);
    }

    private static byte[] frame(int first, int length, String text) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.write(first);
        if (length < 126) {
            frame.write(length);
        } else {
            frame.write(127);
            for (int shift = 56; shift >= 0; shift -= 8) {
                frame.write((int) ((long) length >> shift));
            }
        }
        frame.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
        return frame.toByteArray();
    }

    @ParameterizedTest
    @CsvSource({
        "c1, 1, a frame that this client did not agree to",
        "82, 1, a frame of an unsupported kind",
        "83, 1, a frame of an unsupported kind",
        "80, 1, message fragments out of order",
        "81, 262145, a frame that is too large",
        "89, 126, a frame that is too large",
        "09, 1, a frame that is too large",
    })
    void isGivenUpFor(String first, int length, String why) {
        WebSocket socket = upgraded(frame(Integer.parseInt(first, 16), length, "x"));
        IOException failure = assertThrows(IOException.class, socket::read);
        assertTrue(failure.getMessage().contains(why), failure::getMessage);
    }

    @Test
    void isGivenUpForAMaskedFrame() {
        WebSocket socket = upgraded(new byte[] {(byte) 0x81, (byte) 0x81, 0, 0, 0, 0, 'x'});
        IOException failure = assertThrows(IOException.class, socket::read);
        assertTrue(failure.getMessage().contains("did not agree"), failure::getMessage);
    }

    @Test
    void isGivenUpForFragmentsThatTogetherAreTooLarge() {
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        frames.writeBytes(frame(0x01, 200_000, "x".repeat(200_000)));
        frames.writeBytes(frame(0x80, 62_145, "x".repeat(62_145)));
        WebSocket socket = upgraded(frames.toByteArray());
        IOException failure = assertThrows(IOException.class, socket::read);
        assertTrue(failure.getMessage().contains("too large"), failure::getMessage);
    }

    @Test
    void isGivenUpForAMessageWithinAMessage() {
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        frames.writeBytes(frame(0x01, 1, "x"));
        frames.writeBytes(frame(0x81, 1, "y"));
        WebSocket socket = upgraded(frames.toByteArray());
        IOException failure = assertThrows(IOException.class, socket::read);
        assertTrue(failure.getMessage().contains("out of order"), failure::getMessage);
    }

    @Test
    void isGivenUpForTextThatIsNotUtf8() {
        WebSocket socket = upgraded(frame(0x81, 1, "\u00ff"));
        IOException failure = assertThrows(IOException.class, socket::read);
        assertTrue(failure.getMessage().contains("not UTF-8"), failure::getMessage);
    }

    @Test
    void aCloseIsAnsweredAndIsTheEnd() throws IOException {
        WebSocket socket = upgraded(frame(0x88, 2, "\u0003\u00e8"));
        assertEquals(Optional.empty(), socket.read());
        peer.setSoTimeout(20_000);
        assertEquals(0x88, peer.getInputStream().read());
        assertEquals(0x82, peer.getInputStream().read());
    }

    @Test
    void anEndWithoutACloseIsTheEnd() throws IOException {
        WebSocket socket = upgraded(frame(0x81, 1, "x"));
        assertEquals(Optional.of("x"), socket.read());
        peer.close();
        assertEquals(Optional.empty(), socket.read());
    }

    @Test
    void aFrameOfTheLargestSizeIsTaken() throws IOException {
        String text = "x".repeat(262_144);
        assertEquals(Optional.of(text), upgraded(frame(0x81, 262_144, text)).read());
    }

    @ParameterizedTest
    @CsvSource({
        "HTTP/1.1 429 Too Many Requests, LIMIT_REACHED, takes no more control connections",
        "HTTP/1.1 404 Not Found, UNAVAILABLE, with status 404",
        "HTTP/1.1 101 Switching Protocols, UNAVAILABLE, does not speak WebSocket",
        "SSH-2.0-OpenSSH_9.9, UNAVAILABLE, does not speak HTTP/1.1",
        "'', UNAVAILABLE, it closed the connection",
    })
    void isNoDaemonThatAnswersSo(String status, FailureKind kind, String why) {
        answer(status.isEmpty() ? "" : status + "\r\nSec-WebSocket-Accept: wrong\r\n\r\n", new byte[0]);
        RelayException failure = assertThrows(RelayException.class, () -> open(20));
        assertEquals(kind, failure.kind());
        assertTrue(failure.getMessage().contains(why), failure::getMessage);
    }

    @Test
    void anAnswerWithoutAnEndIsNone() {
        answer("HTTP/1.1 101 Switching Protocols\r\nx: " + "y".repeat(20_000), new byte[0]);
        RelayException failure = assertThrows(RelayException.class, () -> open(20));
        assertTrue(failure.getMessage().contains("its answer has no end"), failure::getMessage);
    }

    @Test
    void noAnswerInTimeIsNone() {
        long begun = System.nanoTime();
        RelayException failure = assertThrows(RelayException.class, () -> open(1));
        assertEquals(FailureKind.UNAVAILABLE, failure.kind());
        assertTrue(System.nanoTime() - begun >= SECOND - 50_000_000, "it has waited");
    }

    /** The frame that it does not take holds those behind it up for 5 s and no longer, and none of them for ever. */
    @Test
    void aDaemonThatTakesNothingIsGivenUpAfterFiveSeconds() throws Exception {
        WebSocket socket = upgraded(new byte[0]);
        AtomicInteger sent = new AtomicInteger();
        AtomicReference<IOException> broken = new AtomicReference<>();
        Thread writer = Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    socket.send("x".repeat(100_000));
                    sent.incrementAndGet();
                }
            } catch (IOException e) {
                broken.set(e);
            }
        });
        int before;
        do {
            before = sent.get();
            Thread.sleep(200);
        } while (before == 0 || before != sent.get());
        long begun = System.nanoTime();
        assertThrows(SocketTimeoutException.class, () -> socket.send("y"));
        long took = System.nanoTime() - begun;
        assertTrue(took >= 5 * SECOND && took < 60 * SECOND, took + " ns");
        assertTrue(writer.join(java.time.Duration.ofSeconds(20)), "the frame in the way ends, too");
        assertEquals(SocketException.class, broken.get().getClass());
        assertThrows(IOException.class, socket::read);
    }
}
