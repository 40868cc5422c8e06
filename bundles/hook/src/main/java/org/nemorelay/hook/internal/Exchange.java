package org.nemorelay.hook.internal;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.Headers;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RouteToken;

/**
 * One POST over HTTP/1.1 on a connection of its own, written by hand: a general client costs a short-lived process more
 * than the whole exchange. Before it, the listener has proven on that same connection who it is: to be a daemon that knows
 * the token ({@link Listener}), else to hold a certificate that this user trusts ({@link Tunnel}, {@link SecureSockets}).
 * Blocks without a deadline of its own; the process has one.
 */
final class Exchange {
    private static final int BUFFER = 8_192;

    private Exchange() {}

    /** Sends the payload and returns the answer. */
    static Answer post(
            DaemonUrl daemon,
            String path,
            RouteToken token,
            Map<String, String> environment,
            String operation,
            Payload payload)
            throws HookFailure {
        try (Connection connection = trusted(daemon, token, environment)) {
            IOException unsent = null;
            try {
                StringBuilder head = new StringBuilder(512);
                head.append("POST ").append(path).append(" HTTP/1.1\r\n");
                head.append("host: ").append(authority(daemon)).append("\r\n");
                head.append("content-type: application/json\r\n");
                head.append("content-length: ").append(payload.length()).append("\r\n");
                head.append(Headers.CLIENT_TOKEN)
                        .append(": ")
                        .append(token.text())
                        .append("\r\n");
                head.append(Headers.OPERATION_ID).append(": ").append(operation).append("\r\n");
                head.append("connection: close\r\n\r\n");
                payload.send(
                        head.toString().getBytes(StandardCharsets.ISO_8859_1), connection.socket.getOutputStream());
            } catch (IOException e) {
                unsent = e; // The daemon may have refused the payload with an answer before it closed.
            }
            try {
                return Answer.read(connection.in);
            } catch (IOException e) {
                throw HookFailure.delivery(
                        "the hook's delivery to " + daemon + " is in doubt: " + text(unsent == null ? e : unsent));
            }
        } catch (IOException e) {
            throw HookFailure.delivery("failed to connect to daemon " + daemon + ": " + text(e));
        }
    }

    /** A connection to a listener that has proven itself; nothing secret has been said on it. */
    private static Connection trusted(DaemonUrl daemon, RouteToken token, Map<String, String> environment)
            throws IOException, HookFailure {
        Connection connection = connect(daemon);
        if (daemon.secure()) {
            return connection.over(SecureSockets.over(connection.socket, daemon, environment));
        }
        String doubt = Listener.doubt(connection, daemon, token);
        if (doubt.isEmpty()) {
            return connection;
        }
        connection.close();
        return Tunnel.open(daemon, environment, doubt);
    }

    static Connection connect(DaemonUrl daemon) throws IOException {
        IOException last = null;
        for (InetAddress address : InetAddress.getAllByName(daemon.hostName())) {
            Socket socket = new Socket();
            try {
                socket.setTcpNoDelay(true);
                socket.connect(new InetSocketAddress(address, daemon.port()));
                return new Connection(socket, new BufferedInputStream(socket.getInputStream(), BUFFER));
            } catch (IOException e) {
                socket.close();
                last = e;
            }
        }
        throw last == null ? new IOException("the host has no address") : last;
    }

    /** A socket and what was read from it and not used yet. */
    record Connection(Socket socket, BufferedInputStream in) implements AutoCloseable {
        /** The same connection inside another layer. */
        Connection over(Socket layer) throws IOException {
            return new Connection(layer, new BufferedInputStream(layer.getInputStream(), BUFFER));
        }

        /** One request without a body. */
        void get(String path, DaemonUrl daemon, String... headers) throws IOException {
            StringBuilder head = new StringBuilder(512);
            head.append("GET ").append(path).append(" HTTP/1.1\r\n");
            head.append("host: ").append(authority(daemon)).append("\r\n");
            for (int i = 0; i < headers.length; i += 2) {
                head.append(headers[i]).append(": ").append(headers[i + 1]).append("\r\n");
            }
            socket.getOutputStream().write(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static String authority(DaemonUrl daemon) {
        String origin = daemon.origin();
        return origin.substring(origin.indexOf("://") + 3);
    }

    static String text(IOException e) {
        return Reasons.of(e);
    }
}
