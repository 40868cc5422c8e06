package org.nemorelay.plugin.observability.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.plugin.api.Event;

/** A server that does not take what it is sent is told at the flush, whatever it does, and what comes after it arrives again. */
@Timeout(120)
class BadServersTest {
    /** What a server does wrong. */
    enum Fault {
        REDIRECTS {
            @Override
            void serve(HttpExchange exchange, CountDownLatch end) throws IOException {
                exchange.getResponseHeaders().set("location", "/elsewhere");
                exchange.sendResponseHeaders(307, -1);
            }
        },
        REFUSES {
            @Override
            void serve(HttpExchange exchange, CountDownLatch end) throws IOException {
                exchange.sendResponseHeaders(400, -1);
            }
        },
        NEVER_ANSWERS {
            @Override
            void serve(HttpExchange exchange, CountDownLatch end) throws InterruptedException {
                end.await();
            }
        },
        NEVER_ENDS_ITS_ANSWER {
            @Override
            void serve(HttpExchange exchange, CountDownLatch end) throws IOException, InterruptedException {
                exchange.sendResponseHeaders(200, 0);
                exchange.getResponseBody().write(' ');
                exchange.getResponseBody().flush();
                end.await();
            }
        };

        abstract void serve(HttpExchange exchange, CountDownLatch end) throws IOException, InterruptedException;
    }

    /** For the servers that never answer; a good one on a busy machine needs less. */
    private static final long TIMEOUT = 2_000;

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final CountDownLatch end = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    private final String url = "http://127.0.0.1:" + server.getAddress().getPort();
    private volatile Fault fault;

    BadServersTest() throws IOException {
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            asked.add(exchange.getRequestURI().getPath());
            exchange.getRequestBody().readAllBytes();
            try (exchange) {
                if (fault == null) {
                    exchange.sendResponseHeaders(200, -1);
                } else {
                    fault.serve(exchange, end);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
    }

    @AfterEach
    void stop() {
        end.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private static Observability plugin(Object... keysAndValues) {
        Map<String, Object> config = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            config.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return new Observability(config, Clock.systemUTC(), Map.of());
    }

    @Test
    void whoCannotBeReachedAndWhy() throws Exception {
        int port;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = closed.getLocalPort();
        }
        Map<String, String> reasons = Map.of(
                "http://127.0.0.1:" + port,
                "nobody answers there",
                "http://no-such-host.invalid",
                "its host name is unknown");
        List<String> said = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord line) {
                said.add(line.getLoggerName() + " " + line.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger.getLogger("").addHandler(handler);
        try {
            for (Map.Entry<String, String> one : reasons.entrySet()) {
                Observability traces = plugin(
                        "opentelemetry.enabled",
                        true,
                        "opentelemetry.endpoints.0.type",
                        "gen_ai",
                        "opentelemetry.endpoints.0.endpoint",
                        one.getKey());
                call(traces, "u1");
                assertEquals(
                        "1 spans did not reach " + one.getKey() + ": " + one.getValue(),
                        assertThrows(IOException.class, traces::flush).getMessage());
                traces.close();
                Observability posts =
                        plugin("atof.enabled", true, "atof.sinks.0.type", "stream", "atof.sinks.0.url", one.getKey());
                call(posts, "u1");
                assertEquals(
                        "2 events did not reach " + one.getKey() + ": " + one.getValue(),
                        assertThrows(IOException.class, posts::flush).getMessage());
                posts.close();
            }
        } finally {
            Logger.getLogger("").removeHandler(handler);
        }
        assertEquals(
                List.of(),
                said.stream().filter(line -> line.contains("opentelemetry")).toList());
    }

    private static void call(Observability plugin, String uuid) throws Exception {
        for (String half : List.of("start", "end")) {
            Map<String, Object> envelope = new HashMap<>(Map.of(
                    "kind", "scope",
                    "scope_category", half,
                    "category", "tool",
                    "attributes", List.of(),
                    "atof_version", "0.1",
                    "uuid", uuid,
                    "timestamp", "2026-11-30T00:00:00+00:00",
                    "name", "Bash"));
            try {
                plugin.onEvent(Event.of(envelope));
            } catch (IOException e) {
                // Told again at the flush.
            }
        }
    }

    private void check(Observability plugin, String told) throws Exception {
        call(plugin, "u1");
        IOException failure = assertThrows(IOException.class, plugin::flush);
        assertTrue(failure.getMessage().startsWith(told), failure.getMessage());
        assertEquals(1, failure.getMessage().lines().count());
        assertTrue(!asked.contains("/elsewhere"), "its headers are for this server alone");
        fault = null;
        call(plugin, "u2");
        recovered(plugin);
        plugin.close();
    }

    /** The tracing SDK takes a flush that comes at the heels of another for the same one. */
    private static void recovered(Observability plugin) throws Exception {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (true) {
            try {
                plugin.flush();
                return;
            } catch (IOException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
                Thread.sleep(10);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void lines(Fault fault) throws Exception {
        this.fault = fault;
        check(
                plugin(
                        "atof.enabled",
                        true,
                        "atof.sinks.0.type",
                        "stream",
                        "atof.sinks.0.url",
                        url,
                        "atof.sinks.0.timeout_millis",
                        TIMEOUT),
                "2 events did not reach " + url + ": ");
    }

    @ParameterizedTest
    @EnumSource
    void traces(Fault fault) throws Exception {
        this.fault = fault;
        check(
                plugin(
                        "opentelemetry.enabled",
                        true,
                        "opentelemetry.endpoints.0.type",
                        "gen_ai",
                        "opentelemetry.endpoints.0.endpoint",
                        url,
                        "opentelemetry.endpoints.0.timeout_millis",
                        TIMEOUT),
                "1 spans did not reach " + url + ": ");
    }
}
