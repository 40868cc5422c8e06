package org.nemorelay.daemon.internal;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.nemorelay.protocol.control.ControlPaths;

/** A provider or a worker's data plane: answers with its name and remembers what it saw. */
final class FakeServer implements AutoCloseable {
    private final HttpServer server;
    private final InetSocketAddress address;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    final List<String> seen = new CopyOnWriteArrayList<>();
    final List<HttpExchange> exchanges = new CopyOnWriteArrayList<>();
    volatile int readyStatus = 204;
    /** What a probe waits for. */
    volatile Wait ready = () -> {};

    volatile Answer answer;

    /** Returns when it is over. */
    interface Wait {
        void await() throws Exception;
    }

    /** Writes one answer. */
    interface Answer {
        void write(HttpExchange exchange) throws IOException;
    }

    FakeServer(String name) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
        address = server.getAddress();
        server.setExecutor(threads);
        answer = exchange -> text(exchange, 200, name);
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().toString();
            exchange.getRequestBody().readAllBytes();
            if (path.equals(ControlPaths.WORKER_READY)) {
                seen.add("probe " + exchange.getRequestHeaders().getFirst("x-nemo-relay-worker-token"));
                try {
                    ready.await();
                } catch (Exception e) {
                    throw new IOException(e);
                }
                exchange.sendResponseHeaders(readyStatus, -1);
                exchange.close();
                return;
            }
            seen.add(exchange.getRequestMethod() + " " + path);
            exchanges.add(exchange);
            answer.write(exchange);
        });
        server.start();
    }

    static void text(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    String url() {
        return "http://127.0.0.1:" + port();
    }

    int port() {
        return address.getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
