package org.nemorelay.http.internal;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A provider that speaks through a plain socket, so that a test decides about every byte. */
final class RawProvider implements AutoCloseable {
    interface Script {
        void serve(Exchange exchange) throws Exception;
    }

    /** One connection; {@link #head()} may be read again for the next request on it. */
    record Exchange(Socket socket, InputStream in, OutputStream out) {
        String head() throws IOException {
            ByteArrayOutputStream head = new ByteArrayOutputStream();
            int matched = 0;
            while (matched < 4) {
                int next = in.read();
                if (next < 0) {
                    return null;
                }
                head.write(next);
                matched = next == "\r\n\r\n".charAt(matched) ? matched + 1 : next == '\r' ? 1 : 0;
            }
            return head.toString(StandardCharsets.ISO_8859_1);
        }

        /** @throws EOFException where the connection ended unused, so that there is no head: pools open some too many */
        byte[] body(String head) throws IOException {
            if (head == null) {
                throw new EOFException();
            }
            for (String line : head.split("\r\n")) {
                if (line.toLowerCase(java.util.Locale.ROOT).startsWith("content-length:")) {
                    return in.readNBytes(Integer.parseInt(line.substring(15).trim()));
                }
            }
            return head.toLowerCase(java.util.Locale.ROOT).contains("transfer-encoding: chunked")
                    ? RawClient.readChunked(in, new ArrayList<>())
                    : new byte[0];
        }

        void send(String text) throws IOException {
            out.write(text.getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
        }

        void chunk(byte[] bytes) throws IOException {
            send(Integer.toHexString(bytes.length) + "\r\n");
            out.write(bytes);
            send("\r\n");
        }

        /** Blocks until the peer closes; true when it did within the socket's timeout. */
        boolean peerCloses() throws IOException {
            socket.setSoTimeout(5_000);
            try {
                while (in.read() >= 0) {
                    // More of a request; the end is what counts.
                }
                return true;
            } catch (java.net.SocketTimeoutException e) {
                return false;
            } catch (IOException e) {
                return true;
            }
        }
    }

    private final ServerSocket server;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger requests = new AtomicInteger();

    RawProvider(Script script) throws IOException {
        this(new ServerSocket(0, 1024, InetAddress.getLoopbackAddress()), script);
    }

    RawProvider(ServerSocket server, Script script) {
        this.server = server;
        Thread.ofVirtual().start(() -> {
            while (!server.isClosed()) {
                try {
                    Socket socket = server.accept();
                    socket.setTcpNoDelay(true);
                    sockets.add(socket);
                    connections.incrementAndGet();
                    Thread.ofVirtual().start(() -> serve(script, socket));
                } catch (IOException e) {
                    return;
                }
            }
        });
    }

    private void serve(Script script, Socket socket) {
        try (socket) {
            script.serve(new Exchange(
                    socket, new BufferedInputStream(socket.getInputStream(), 65536), socket.getOutputStream()));
        } catch (IOException e) {
            // The peer left, which tests provoke.
        } catch (Throwable e) {
            failures.add(e);
        } finally {
            sockets.remove(socket);
        }
    }

    String origin() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    int port() {
        return server.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        if (!failures.isEmpty()) {
            throw new AssertionError("the provider's script failed", failures.getFirst());
        }
    }
}
