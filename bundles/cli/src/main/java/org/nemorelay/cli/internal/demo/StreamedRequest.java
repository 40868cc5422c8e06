package org.nemorelay.cli.internal.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** A harness's side of one streamed request: a raw connection, so that every event is seen when it arrives. */
final class StreamedRequest implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 30_000;

    private final Socket socket;
    private final BufferedReader in;

    /** Sends the request; returns when it has left. */
    StreamedRequest(int port, String head, String body) throws IOException {
        socket = new Socket(InetAddress.getByName("127.0.0.1"), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        byte[] payload = body.getBytes(StandardCharsets.UTF_8);
        socket.getOutputStream()
                .write((head + "content-length: " + payload.length + "\r\nconnection: close\r\n\r\n" + body)
                        .getBytes(StandardCharsets.UTF_8));
    }

    /** The status of the answer. */
    int status() throws IOException {
        String line = in.readLine();
        return line == null ? 0 : Integer.parseInt(line.split(" ")[1]);
    }

    /** The data of the next event; {@link DemoFailure} where the stream ends instead. */
    JsonObject event() throws IOException {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.startsWith("data: ")) {
                return Json.parseObject(line.substring("data: ".length()));
            }
        }
        throw new DemoFailure("the streamed answer ended early");
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
