package org.nemorelay.cli.internal.demo;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A model provider in this process that always streams the same answer. It withholds everything after the first event
 * until it is told to go on: who sees the first event then has it from a stream that nobody held back.
 */
final class Provider implements AutoCloseable {
    /** Text of the answer, in the pieces in which it is streamed. */
    static final List<String> PIECES = List.of("Hello ", "from the ", "other end.");

    private static final long WITHHOLD_SECONDS = 20;

    /** A request as it arrived. */
    record Received(String target, Map<String, String> headers, String body, long nanos) {}

    private final ServerSocket server;
    private final List<Received> received = new ArrayList<>();
    private final CountDownLatch goOn = new CountDownLatch(1);

    Provider() throws IOException {
        server = new ServerSocket(0, 16, InetAddress.getByName("127.0.0.1"));
        Thread.ofPlatform().daemon().name("demo-provider").start(this::accept);
    }

    /** Base URL under which requests are marked with this word. */
    String base(String mark) {
        return "http://127.0.0.1:" + server.getLocalPort() + "/" + mark;
    }

    /** What arrived so far. */
    List<Received> received() {
        synchronized (received) {
            return List.copyOf(received);
        }
    }

    /** Lets the events after the first one go. */
    void goOn() {
        goOn.countDown();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                Thread.ofVirtual().name("demo-provider-connection").start(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(socket.getInputStream());
            while (true) {
                Received request = read(in);
                synchronized (received) {
                    received.add(request);
                }
                answer(socket.getOutputStream());
            }
        } catch (IOException e) {
            // The other side has hung up.
        }
    }

    private void answer(OutputStream out) throws IOException {
        out.write(("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1));
        List<String> events = events();
        event(out, events.getFirst());
        try {
            goOn.await(WITHHOLD_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        for (String event : events.subList(1, events.size())) {
            event(out, event);
        }
        out.write("0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    private static List<String> events() {
        List<String> events = new ArrayList<>();
        events.add(
                event(
                        "message_start",
                        "\"message\":{\"id\":\"msg_demo\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"demo-model\",\"content\":[],"
                                + "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}"));
        events.add(event("content_block_start", "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}"));
        for (String piece : PIECES) {
            events.add(event(
                    "content_block_delta",
                    "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" + piece + "\"}"));
        }
        events.add(event("content_block_stop", "\"index\":0"));
        events.add(event(
                "message_delta",
                "\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":5}"));
        events.add(event("message_stop", ""));
        return events;
    }

    private static String event(String type, String fields) {
        return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + (fields.isEmpty() ? "" : "," + fields)
                + "}\n\n";
    }

    private static void event(OutputStream out, String event) throws IOException {
        byte[] bytes = event.getBytes(StandardCharsets.UTF_8);
        out.write((Integer.toHexString(bytes.length) + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
        out.write(bytes);
        out.write("\r\n".getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    private static Received read(InputStream in) throws IOException {
        String[] request = line(in).split(" ");
        Map<String, String> headers = new LinkedHashMap<>();
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        String body = new String(body(in, headers), StandardCharsets.UTF_8);
        return new Received(request.length > 1 ? request[1] : "", headers, body, System.nanoTime());
    }

    private static byte[] body(InputStream in, Map<String, String> headers) throws IOException {
        if (!headers.containsKey("transfer-encoding")) {
            return in.readNBytes(Integer.parseInt(headers.getOrDefault("content-length", "0")));
        }
        java.io.ByteArrayOutputStream body = new java.io.ByteArrayOutputStream();
        for (int size = Integer.parseInt(line(in), 16); size > 0; size = Integer.parseInt(line(in), 16)) {
            body.write(in.readNBytes(size));
            line(in);
        }
        while (!line(in).isEmpty()) {
            // trailers
        }
        return body.toByteArray();
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException();
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        server.close();
        goOn.countDown();
    }
}
