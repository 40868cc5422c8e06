package org.nemorelay.worker.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.nemorelay.http.HttpListener;

/** What the daemon takes for a sign of life stays after the data plane has closed. */
class HeldPortTest {
    @Test
    void thePortIsTakenAfterTheListenerHasClosed() throws Exception {
        ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        HeldPort held = new HeldPort(listener(listening), "127.0.0.1");
        held.close(Duration.ZERO);
        held.close();
        assertTrue(listening.isClosed());
        assertEquals(listening.getLocalPort(), held.port());
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (!listens(held.port())) {
            assertTrue(System.nanoTime() < deadline, "nothing listens");
            Thread.onSpinWait();
        }
    }

    private static boolean listens(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private static HttpListener listener(ServerSocket socket) {
        int port = socket.getLocalPort();
        return new HttpListener() {
            @Override
            public int port() {
                return port;
            }

            @Override
            public void close(Duration grace) {
                close();
            }

            @Override
            public void close() {
                try {
                    socket.close();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        };
    }
}
