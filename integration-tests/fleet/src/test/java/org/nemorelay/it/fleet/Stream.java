package org.nemorelay.it.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.nemorelay.json.Json;

/** A streamed answer, read while it comes. */
final class Stream implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private final StringBuilder text = new StringBuilder();

    Stream(int port, Map<String, Object> request) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout((int) Fleet.LIMIT.toMillis());
        byte[] body = Json.write(request).getBytes(StandardCharsets.UTF_8);
        socket.getOutputStream()
                .write(("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: "
                                + body.length + "\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().write(body);
        in = socket.getInputStream();
    }

    void awaitEvents(int count) throws IOException {
        while (text.toString().split("data: ", -1).length <= count) {
            if (!more()) {
                throw new AssertionError("the stream ended: " + text);
            }
        }
    }

    /** Everything that came. */
    String toEnd() throws IOException {
        while (more()) {}
        return text.toString();
    }

    private boolean more() throws IOException {
        byte[] buffer = new byte[16_384];
        int count = in.read(buffer);
        if (count > 0) {
            text.append(new String(buffer, 0, count, StandardCharsets.UTF_8));
        }
        return count >= 0;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
