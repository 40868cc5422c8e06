package org.nemorelay.worker.internal;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.nemorelay.http.HttpListener;

/**
 * A data plane whose port stays taken until the process ends, also when it serves no more: a daemon that has lost its control
 * connection concludes from a free port that nothing of this worker is left, its plugins included.
 */
final class HeldPort implements HttpListener {
    private final HttpListener listener;
    private final String host;
    private final int port;
    private boolean held;

    HeldPort(HttpListener listener, String host) {
        this.listener = listener;
        this.host = host;
        this.port = listener.port();
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void close(Duration grace) {
        listener.close(grace);
        hold();
    }

    @Override
    public void close() {
        listener.close();
        hold();
    }

    private synchronized void hold() {
        if (!held) {
            held = true;
            // Nobody joins it: its end is that of the process.
            Thread.ofPlatform().name("held port").daemon().start(this::untilTheEnd);
        }
    }

    private void untilTheEnd() {
        try (ServerSocket place = new ServerSocket()) {
            place.bind(new InetSocketAddress(host, port));
            new CountDownLatch(1).await();
        } catch (IOException e) {
            // Another process has it, and the daemon waits for the deadline.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
