package org.nemorelay.worker.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.Upstreams;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.worker.internal.hook.HookPayload;

/** What a daemon gets from a worker, over real sockets (relay-daemon 7). */
@Timeout(30)
final class DataPlaneTest {
    private final HttpEngine engine = HttpEngine.create(Map.of());
    private final HttpClient client = HttpClient.newHttpClient();
    private final MemoryLog log = new MemoryLog();
    private final AtomicLong paused = new AtomicLong();
    private final Admission admission = new Admission(new Standstill(() -> System.nanoTime() + paused.get()));
    private final List<String> hooks = new CopyOnWriteArrayList<>();
    private final List<String> exchanges = new CopyOnWriteArrayList<>();
    private final List<Map<String, List<String>>> seen = new CopyOnWriteArrayList<>();
    private volatile Runnable beforeSending = () -> {};
    private final CountDownLatch asked = new CountDownLatch(1);
    private HttpServer provider;
    private HttpListener worker;

    @BeforeEach
    void start() throws Exception {
        provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.createContext("/", exchange -> {
            seen.add(Map.copyOf(exchange.getRequestHeaders()));
            byte[] answer = (exchange.getRequestMethod() + " " + exchange.getRequestURI()
                            + " "
                            + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8))
                    .getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Cache-Control", "public");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        provider.start();
        worker = listen("http://127.0.0.1:" + provider.getAddress().getPort() + "/v1");
        admission.issued(new Secret("token"));
    }

    private HttpListener listen(String base) {
        return listen(base, 0);
    }

    private HttpListener listen(String base, long headTimeoutMs) {
        Observation observation = new Observation() {
            @Override
            public CompletableFuture<Void> hook(HookPayload hook, int bytes, Ruling ruling) {
                hooks.add(hook.agent().word() + " " + bytes);
                return CompletableFuture.completedFuture(null);
            }

            @Override
            public ExchangeListener exchange(String path, Supplier<HttpFields> headers, Optional<byte[]> body) {
                exchanges.add(path);
                beforeSending.run();
                return ExchangeListener.NONE;
            }

            @Override
            public void refused(String path, HttpFields headers, Optional<byte[]> body, List<Clearance.Check> checks) {}
        };
        DataPlane dataPlane = new DataPlane(
                admission,
                engine.forwarder(),
                new Upstreams(new Upstreams.Settings(base, "Bearer lent", "", "", ""), Map.of()),
                () -> Snapshot.NONE,
                observation,
                new UpstreamFailureLog(log, "worker", System::nanoTime),
                100_000,
                100_000,
                headTimeoutMs);
        return engine.listen("127.0.0.1", 0, server -> dataPlane);
    }

    @AfterEach
    void stop() {
        worker.close();
        engine.close();
        provider.stop(0);
        client.close();
    }

    private HttpResponse<String> send(String method, String path, String body, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + worker.port() + path))
                .version(HttpClient.Version.HTTP_1_1)
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        List<String> all = new ArrayList<>(List.of("X-Nemo-Relay-Worker-Token", "token"));
        all.addAll(List.of(headers));
        request.headers(all.toArray(String[]::new));
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private void open() throws Exception {
        assertEquals(204, send("GET", "/_nemo-relay/worker/v1/ready", "").statusCode());
    }

    @Test
    void withoutTheTokenEveryPathIs401() throws Exception {
        open();
        for (String path : List.of("/v1/messages", "/nope", "/healthz", "/_nemo-relay/worker/v1/ready", "/hooks/pi")) {
            for (String header :
                    List.of("", "X-Nemo-Relay-Worker-Token: wrong\r\n", "x-nemo-relay-client-token: token\r\n")) {
                String answer = raw("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + header + "\r\n");
                assertTrue(answer.startsWith("HTTP/1.1 401 "), answer);
                assertTrue(answer.endsWith("{\"error\":{\"message\":\"invalid daemon worker credential\"}}"), answer);
            }
        }
    }

    private String raw(String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), worker.port())) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void beforeTheProbeAndAfterALossRequestsPassBy() throws Exception {
        HttpResponse<String> early = send("POST", "/v1/responses", "{}");
        assertEquals(503, early.statusCode());
        assertEquals(Optional.of("pass-through"), early.headers().firstValue("x-nemo-relay-worker-route-failure"));
        open();
        assertEquals(200, send("POST", "/v1/responses", "{}").statusCode());
        admission.controlLost();
        assertEquals(503, send("POST", "/v1/responses", "{}").statusCode());
        admission.stop();
        HttpResponse<String> late = send("POST", "/v1/responses", "{}");
        assertEquals(503, late.statusCode());
        assertEquals(Optional.empty(), late.headers().firstValue("x-nemo-relay-worker-route-failure"));
        assertEquals(503, send("GET", "/_nemo-relay/worker/v1/ready", "").statusCode());
    }

    @Test
    void whatWasTakenIsNotSentAfterTheDrainDeadline() throws Exception {
        open();
        beforeSending = admission::overdue;
        HttpResponse<String> answer = send("POST", "/v1/responses", "{}");
        assertEquals(503, answer.statusCode());
        assertEquals("{\"error\":{\"message\":\"the worker is stopping\"}}", answer.body());
        assertEquals(List.of(), seen);
        Awaiting.await("nothing in flight", () -> admission.inFlight() == 0);
    }

    private CompletableFuture<HttpResponse<String>> sentAfterAPause() throws Exception {
        open();
        admission.standstill().ask(asked::countDown);
        admission.standstill().heard();
        paused.set(TimeUnit.SECONDS.toNanos(100));
        CompletableFuture<HttpResponse<String>> answer = client.sendAsync(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + worker.port() + "/v1/responses"))
                        .version(HttpClient.Version.HTTP_1_1)
                        .header("X-Nemo-Relay-Worker-Token", "token")
                        .POST(HttpRequest.BodyPublishers.ofString("{}"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertTrue(asked.await(60, TimeUnit.SECONDS));
        assertEquals(List.of(), seen);
        return answer;
    }

    @Test
    void afterAPauseARequestIsSentWhenTheDaemonWasHeard() throws Exception {
        CompletableFuture<HttpResponse<String>> answer = sentAfterAPause();
        admission.standstill().heard();
        assertEquals(200, answer.get(60, TimeUnit.SECONDS).statusCode());
        assertEquals(1, seen.size());
        Awaiting.await("nothing in flight", () -> admission.inFlight() == 0);
    }

    @Test
    void afterAPauseARequestIsNotSentWhereTheDrainDeadlineHadPassed() throws Exception {
        CompletableFuture<HttpResponse<String>> answer = sentAfterAPause();
        admission.overdue();
        admission.standstill().heard();
        assertEquals(503, answer.get(60, TimeUnit.SECONDS).statusCode());
        assertEquals(List.of(), seen);
        Awaiting.await("nothing in flight", () -> admission.inFlight() == 0);
    }

    @Test
    void providerRequestsReachTheProvider() throws Exception {
        open();
        assertEquals(
                "POST /v1/responses?q=%7C {\"a\":1}",
                send("POST", "/backend-api/codex/responses?q=%7C", "{\"a\":1}", "x-nemo-relay-session-id", "s")
                        .body());
        Map<String, List<String>> headers = seen.getFirst();
        assertEquals(List.of("Bearer lent"), headers.get("Authorization"));
        assertEquals(List.of("trailers"), headers.get("Te"));
        assertTrue(
                headers.keySet().stream().noneMatch(name -> name.toLowerCase().startsWith("x-nemo")), "" + headers);
        assertEquals(List.of("/backend-api/codex/responses"), exchanges);
        Awaiting.await("nothing in flight", () -> admission.inFlight() == 0);
        HttpResponse<String> models = send("GET", "/models", "", "Authorization", "Bearer own");
        assertEquals("GET /v1/models ", models.body());
        assertEquals(List.of("no-store"), models.headers().allValues("cache-control"));
        assertEquals(List.of("Bearer own"), seen.getLast().get("Authorization"));
    }

    @Test
    void namedUpstreamNeedsTheCallersCredential() throws Exception {
        open();
        String base = "http://localhost:" + provider.getAddress().getPort() + "/pfx/";
        HttpResponse<String> anonymous = send("POST", "/v1/messages", "{}", "x-nemo-relay-upstream-base-url", base);
        assertEquals(400, anonymous.statusCode());
        assertTrue(anonymous.body().contains("caller-supplied"), anonymous.body());
        assertEquals(
                "POST /pfx/v1/messages {}",
                send("POST", "/v1/messages", "{}", "x-nemo-relay-upstream-base-url", base, "x-api-key", "k")
                        .body());
        for (String bad : List.of("nope", "http://example.com", "http://u:p@127.0.0.1:1", "http://127.0.0.1:1/?q")) {
            assertEquals(
                    400,
                    send("POST", "/v1/messages", "{}", "x-nemo-relay-upstream-base-url", bad, "x-api-key", "k")
                            .statusCode(),
                    bad);
        }
        assertEquals(1, seen.size());
    }

    @Test
    void deadProviderIs502AndLoggedOnceInAWhile() throws Exception {
        worker.close();
        worker = listen("http://127.0.0.1:1");
        open();
        for (int i = 0; i < 3; i++) {
            HttpResponse<String> answer = send("GET", "/v1/models", "");
            assertEquals(502, answer.statusCode());
            assertEquals(List.of("no-store"), answer.headers().allValues("cache-control"));
            assertTrue(answer.body().contains("nemo_relay_gateway_error"), answer.body());
        }
        assertEquals(List.of("upstream_request_failed"), log.events());
        assertEquals(204, send("GET", "/_nemo-relay/worker/v1/ready", "").statusCode());
    }

    /** The daemon's own limit is 504 (relay-daemon 0.1). */
    @Test
    void providerThatIsSilentForLongerThanAllowedIs502() throws Exception {
        worker.close();
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            worker = listen("http://127.0.0.1:" + silent.getLocalPort(), 200);
            open();
            HttpResponse<String> answer = send("POST", "/v1/responses", "{}");
            assertEquals(502, answer.statusCode());
            assertTrue(answer.body().contains("within 200 ms"), answer.body());
            assertTrue(answer.body().contains("nemo_relay_gateway_error"), answer.body());
        }
        Awaiting.await("nothing in flight", () -> admission.inFlight() == 0);
        assertEquals(204, send("GET", "/_nemo-relay/worker/v1/ready", "").statusCode());
    }

    @Test
    void hooksAreAnsweredInEachAgentsWay() throws Exception {
        open();
        assertEquals(
                "{\"continue\":true}", send("POST", "/hooks/claude-code", "{}").body());
        assertEquals("{}", send("POST", "/hooks/codex", "[]").body());
        String large = "{\"text\":\"" + "x".repeat(90_000) + "\"}";
        assertEquals("{}", send("POST", "/hooks/pi", large).body());
        assertEquals(List.of("claude-code 2", "codex 2", "pi " + large.length()), hooks);
        assertEquals(400, send("POST", "/hooks/pi", "nope").statusCode());
        assertEquals(400, send("POST", "/hooks/pi", "").statusCode());
        assertEquals(413, send("POST", "/hooks/pi", "x".repeat(100_001)).statusCode());
        assertEquals(3, hooks.size());
        String chunked =
                raw("POST /hooks/pi HTTP/1.1\r\nHost: x\r\nX-Nemo-Relay-Worker-Token: token\r\nConnection: close\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n186a1\r\n" + "x".repeat(100_001) + "\r\n0\r\n\r\n");
        assertTrue(chunked.startsWith("HTTP/1.1 413 "), chunked);
        String broken =
                raw("POST /hooks/pi HTTP/1.1\r\nHost: x\r\nX-Nemo-Relay-Worker-Token: token\r\nConnection: close\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nno size\r\n");
        assertTrue(broken.startsWith("HTTP/1.1 400 "), broken);
        assertTrue(broken.endsWith("{\"error\":{\"message\":\"the request's body broke off\"}}"), broken);
        Awaiting.await("nothing in flight", () -> admission.inFlight() == 0);
    }

    @Test
    void unknownPathsAndMethods() throws Exception {
        open();
        assertEquals(404, send("GET", "/nope", "").statusCode());
        assertEquals(405, send("GET", "/v1/messages", "").statusCode());
        assertEquals(405, send("POST", "/_nemo-relay/worker/v1/ready", "").statusCode());
    }
}
