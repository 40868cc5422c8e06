package org.nemorelay.it.process;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;

/**
 * Another loopback address with the daemon's port, through which clients reach it, so that their control connections can be
 * cut while requests, which go from the daemon to the worker, go on. It hears what is said there, too.
 */
final class ControlCut implements AutoCloseable {
    private static final String OTHER = "127.0.0.2";
    private static final Pattern DATA_TOKEN = Pattern.compile("\"data_token\":\"([A-Za-z0-9_-]{43})\"");

    private final int port;
    private final ServerSocket server;
    private final List<Socket> workers = new CopyOnWriteArrayList<>();
    private final List<Socket> all = new CopyOnWriteArrayList<>();
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private volatile boolean workersCut;
    private volatile CountDownLatch held = new CountDownLatch(0);

    ControlCut(int port) {
        this.port = port;
        try {
            server = new ServerSocket(port, 50, InetAddress.getByName(OTHER));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("control-cut").start(this::accept);
    }

    String address() {
        return "http://" + OTHER + ":" + port;
    }

    /** Workers lose their control connection and get no other one. */
    void cutWorkers() {
        workersCut = true;
        workers.forEach(ControlCut::close);
    }

    /** New connections of workers are let through again. */
    void mend() {
        workersCut = false;
    }

    /** What the daemon says from now on comes later. */
    void hold() {
        held = new CountDownLatch(1);
    }

    /** What was held goes its way, and the end of its connection after it. */
    void letGo() {
        held.countDown();
    }

    /** The token that the daemon gave to the last worker, for its requests to it. */
    String dataToken() {
        return DATA_TOKEN
                .matcher(said.toString(StandardCharsets.UTF_8))
                .results()
                .map(match -> match.group(1))
                .reduce((first, second) -> second)
                .orElseThrow();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket client = server.accept();
                Thread.ofPlatform().daemon().name("control-cut-in").start(() -> serve(client));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket client) {
        try (client;
                Socket daemon = new Socket(InetAddress.getLoopbackAddress(), port)) {
            all.add(client);
            byte[] first = new byte[8_192];
            int length = client.getInputStream().read(first);
            if (length > 0
                    && new String(first, 0, length, StandardCharsets.ISO_8859_1).contains("/control/v1/worker")) {
                workers.add(client);
                if (workersCut) {
                    return;
                }
            }
            Thread back = Thread.ofPlatform()
                    .daemon()
                    .name("control-cut-out")
                    .start(() -> copy(daemon, client, said, this::pass));
            if (length > 0) {
                daemon.getOutputStream().write(first, 0, length);
            }
            copy(client, daemon, OutputStream.nullOutputStream(), () -> {});
            back.join();
        } catch (IOException e) {
            // cut
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void pass() {
        try {
            held.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void copy(Socket from, Socket to, OutputStream heard, Runnable gate) {
        try (to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] some = new byte[8_192];
            for (int length = in.read(some); length >= 0; length = in.read(some)) {
                heard.write(some, 0, length);
                gate.run();
                out.write(some, 0, length);
            }
        } catch (IOException e) {
            // cut
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // closed is closed
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        held.countDown();
        all.forEach(ControlCut::close);
    }
}
