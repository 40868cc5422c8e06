package org.nemorelay.it.interop;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Answers;
import org.nemorelay.it.Maker;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/**
 * The same bytes to our daemon and to the stock one, in the default mode and without a worker: status, headers, body, the
 * connection's fate and what the provider received are alike, except for the differences that are listed with their
 * reasons. The limit of control upgrades per source address is left out: ours is higher on purpose.
 */
class DaemonSurfaceTest {
    static final String UNBOUND = "x-nemo-relay-client-token: " + "A".repeat(43);
    private static final String MALFORMED = "x-nemo-relay-client-token: short";
    private static final List<String> UPGRADE = List.of(
            "connection: upgrade",
            "upgrade: websocket",
            "sec-websocket-version: 13",
            "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==");
    static final String MESSAGE = "{\"model\":\"mock-model\",\"stream\":true}";

    private static final String LONE_UPGRADE = " whose connection header names no upgrade";
    private static final String UNNAMED =
            "an upgrade that the connection header does not name is malformed (RFC 9110 7.8) and refused as it is parsed;"
                    + " harnesses and stock hooks name it";

    /** Name of the exchange to the reason why ours differs. */
    static final Map<String, String> ACCEPTED = Map.ofEntries(
            Map.entry("no host", "HTTP/1.1 demands a host (RFC 9112 3.2)"),
            Map.entry("no slash", "a target that is neither a path nor a URI is malformed (RFC 9112 3.2)"),
            Map.entry("GET /%zz", "an escape of no byte is malformed (RFC 3986 2.1)"),
            Map.entry("GET /v1/models%00", "an escaped NUL is refused as it is parsed"),
            Map.entry("asterisk", "the asterisk form belongs to OPTIONS (RFC 9112 3.2.4)"),
            Map.entry("POST without a length", "the provider is told that there is no body (RFC 9110 8.6)"),
            Map.entry("expect", "nobody is asked to continue with a body that is already here (RFC 9110 10.1.1)"),
            Map.entry("no request line", "a connection that closes anyway; the stock announces it"),
            Map.entry("length and chunked", "two lengths are how requests are smuggled; refused"),
            Map.entry("101 headers", "headers are limited by their size, not by their number"),
            Map.entry(
                    Exchange.of("GET /v1/models", "", UPGRADE.toArray(String[]::new))
                            .name(),
                    "the stock forwards connection and upgrade to the provider; here no upgrade passes"),
            Map.entry("GET /v1/responses" + LONE_UPGRADE, UNNAMED),
            Map.entry("GET /v1/messages" + LONE_UPGRADE, UNNAMED),
            Map.entry("GET /healthz" + LONE_UPGRADE, UNNAMED),
            Map.entry("GET /bootstrap/tunnel" + LONE_UPGRADE, UNNAMED));

    @TempDir
    Path folder;

    @Test
    void case109BothDaemonsTreatTheSameBytesAlike() {
        List<Exchange> exchanges = new ArrayList<>();
        exchanges.addAll(ownPaths());
        exchanges.addAll(unknownPathsAndMethods());
        exchanges.addAll(credentials());
        exchanges.addAll(hooks());
        exchanges.addAll(passThrough());
        exchanges.addAll(upgrades());
        exchanges.addAll(framing());
        try (MockProvider provider = provider()) {
            compare(exchanges, provider, Relay.upstream(provider));
        }
    }

    @Test
    void aDeadProviderIsToldAlike() {
        String dead = "http://127.0.0.1:" + Relay.freePort();
        try (MockProvider unused = new MockProvider()) {
            compare(
                    List.of(
                            Exchange.of("POST /v1/messages", MESSAGE),
                            Exchange.of("POST /v1/messages", MESSAGE, UNBOUND),
                            Exchange.of("POST /v1/responses", MESSAGE),
                            Exchange.of("GET /v1/models", ""),
                            Exchange.of("POST /hooks/pi", "{}")),
                    unused,
                    Proc.spec().env("NEMO_RELAY_ANTHROPIC_BASE_URL", dead).env("NEMO_RELAY_OPENAI_BASE_URL", dead));
        }
    }

    private void compare(List<Exchange> exchanges, MockProvider provider, Proc.Spec upstream) {
        Comparison comparison = new Comparison(ACCEPTED);
        try (Relay stock = Relay.start(User.self(folder.resolve("stock")), Maker.STOCK.executable(), upstream);
                Relay ours = Relay.start(User.self(folder.resolve("ours")), Maker.OURS.executable(), upstream)) {
            for (Exchange exchange : exchanges) {
                comparison.of(
                        exchange.name(),
                        exchange.treatment(stock.port(), provider),
                        exchange.treatment(ours.port(), provider));
            }
        }
        comparison.hold();
    }

    static List<Exchange> ownPaths() {
        List<Exchange> all = new ArrayList<>();
        for (String path : List.of(
                "/healthz",
                "/healthz?x=1",
                "/_nemo_relay/v1/workers",
                "/_nemo_relay/v1/workers/status",
                "/_nemo_relay/v1/workers/nope/status")) {
            for (String method : List.of("GET", "HEAD", "POST", "OPTIONS", "DELETE")) {
                all.add(Exchange.of(method + " " + path, ""));
            }
        }
        all.add(Exchange.of("GET /healthz", "", MALFORMED));
        all.add(Exchange.of("GET /healthz", "", "connection: close"));
        all.add(new Exchange("HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n"));
        all.add(new Exchange("no host", "GET /healthz HTTP/1.1\r\n\r\n"));
        all.add(new Exchange("absolute form", "GET http://relay.test/healthz HTTP/1.1\r\nhost: relay.test\r\n\r\n"));
        return all;
    }

    private static List<Exchange> unknownPathsAndMethods() {
        List<Exchange> all = new ArrayList<>();
        for (String line : List.of(
                "GET /",
                "GET /nope",
                "POST /v1/nope",
                "GET /healthz/",
                "GET //healthz",
                "GET /a//b",
                "GET /v1//models",
                "GET /healthz/../healthz",
                "GET /healthz/.",
                "GET /%68ealthz",
                "GET /healthz;x",
                "GET /v1/models%2f",
                "GET /v1/models%00",
                "GET /%zz",
                "GET /v1/models?a=%zz&b=%00//..",
                "OPTIONS *",
                "GET /_nemo_relay/v1/workers/",
                "GET /_nemo_relay/v1/workers/nope",
                "GET /_nemo-relay/control/v1/nope",
                "GET /_nemo-relay/worker/v1/ready",
                "POST /_nemo_relay/control/v1/mcp",
                "GET /hooks/nope",
                "POST /hooks/claude",
                "POST /hooks/claude-code/",
                "GET /bootstrap/x",
                "GET /v1/messages",
                "HEAD /v1/messages",
                "OPTIONS /v1/messages",
                "DELETE /v1/responses",
                "GET /v1/chat/completions",
                "POST /v1/models",
                "HEAD /v1/models",
                "GET /hooks/codex",
                "PUT /hooks/pi",
                "POST /_nemo-relay/control/v1/mcp",
                "POST /bootstrap/tunnel",
                "GET /bootstrap/tunnel")) {
            all.add(Exchange.of(line, ""));
        }
        all.add(Exchange.of("GET /nope", "", MALFORMED));
        all.add(Exchange.of("GET /v1/messages", "", MALFORMED));
        all.add(new Exchange("no slash", "GET healthz HTTP/1.1\r\nhost: a\r\n\r\n"));
        all.add(new Exchange("asterisk", "GET * HTTP/1.1\r\nhost: a\r\n\r\n"));
        all.add(new Exchange("CONNECT", "CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n"));
        return all;
    }

    static List<Exchange> credentials() {
        List<Exchange> all = new ArrayList<>();
        for (String path : List.of("/v1/messages", "/hooks/claude-code")) {
            for (String value : List.of(
                    "",
                    "short",
                    "A".repeat(44),
                    "A".repeat(43) + "=",
                    "A".repeat(42) + "B",
                    "a,b",
                    "\u00e9".repeat(43))) {
                all.add(Exchange.of("POST " + path, "{}", "x-nemo-relay-client-token: " + value));
            }
            all.add(Exchange.of("POST " + path, "{}", UNBOUND));
            all.add(Exchange.of("POST " + path, "{}", "x-nemo-relay-client-token:   " + "A".repeat(43) + "  "));
            all.add(Exchange.of("POST " + path, "{}", UNBOUND, UNBOUND));
            all.add(Exchange.of("POST " + path, "{}", UNBOUND, MALFORMED));
        }
        for (String url : List.of("http://127.0.0.1:1", "nope", "http://relay.example", "")) {
            all.add(Exchange.of("POST /v1/messages", "{}", "x-nemo-relay-upstream-base-url: " + url));
        }
        all.add(Exchange.of("POST /v1/messages", "{}", UNBOUND, "x-nemo-relay-upstream-base-url: http://127.0.0.1:1"));
        all.add(Exchange.of("POST /hooks/pi", "{}", "x-nemo-relay-upstream-base-url: http://127.0.0.1:1"));
        return all;
    }

    static List<Exchange> hooks() {
        List<Exchange> all = new ArrayList<>();
        for (String agent : List.of("codex", "claude-code", "pi")) {
            all.add(Exchange.of("POST /hooks/" + agent, "{\"hook_event_name\":\"SessionStart\"}"));
            all.add(Exchange.of("POST /hooks/" + agent, "not json"));
            all.add(Exchange.of("POST /hooks/" + agent, ""));
        }
        return all;
    }

    static List<Exchange> passThrough() {
        return List.of(
                Exchange.of("POST /v1/messages?beta=true", MESSAGE, "x-api-key: k", "anthropic-version: 2023-06-01"),
                Exchange.of("POST /v1/messages/count_tokens", "{}"),
                Exchange.of("POST /v1/responses", MESSAGE, "authorization: Bearer t"),
                Exchange.of("POST /responses?a=b", MESSAGE),
                Exchange.of("POST /backend-api/codex/responses?a=b", MESSAGE),
                Exchange.of("POST /chat/completions", MESSAGE),
                Exchange.of("POST /v1/chat/completions", MESSAGE),
                Exchange.of("POST /v1/images/generations", "{}"),
                Exchange.of("GET /models", ""),
                Exchange.of("GET /v1/models?limit=1", ""),
                Exchange.of(
                        "POST /v1/messages",
                        MESSAGE,
                        "Connection: keep-alive, x-hop",
                        "x-hop: gone",
                        "keep-alive: timeout=5",
                        "te: trailers",
                        "proxy-authorization: Basic x",
                        "x-nemo-relay-operation-id: 0190b6f6-7c1e-7c1e-8c1e-7c1e7c1e7c1e",
                        "x-nemo-relay-other: 1",
                        "user-agent: tester/1",
                        "accept-encoding: gzip, br",
                        "accept: text/event-stream",
                        "cookie: a=1",
                        "x-multi: 1",
                        "x-empty:",
                        "x-multi: 2"),
                new Exchange(
                        "chunked request",
                        "POST /v1/messages HTTP/1.1\r\nhost: relay.test\r\ntransfer-encoding: chunked\r\n\r\n"
                                + "5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n"),
                new Exchange("POST without a length", "POST /v1/messages HTTP/1.1\r\nhost: relay.test\r\n\r\n"),
                new Exchange(
                        "empty body", "POST /v1/messages HTTP/1.1\r\nhost: relay.test\r\ncontent-length: 0\r\n\r\n"),
                new Exchange(
                        "expect",
                        "POST /v1/messages HTTP/1.1\r\nhost: relay.test\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n{}"),
                new Exchange(
                        "HTTP/1.0",
                        "POST /v1/messages/count_tokens HTTP/1.0\r\nhost: relay.test\r\ncontent-length: 2\r\n\r\n{}"));
    }

    static List<Exchange> upgrades() {
        String[] upgrade = UPGRADE.toArray(String[]::new);
        List<Exchange> all = new ArrayList<>();
        for (String path : List.of(
                "/v1/responses",
                "/responses",
                "/backend-api/codex/responses",
                "/v1/chat/completions",
                "/v1/messages",
                "/hooks/codex",
                "/healthz",
                "/nope",
                "/v1/models")) {
            all.add(Exchange.of("GET " + path, "", upgrade));
        }
        for (String path : List.of("/v1/responses", "/v1/messages", "/healthz", "/bootstrap/tunnel")) {
            String protocol = path.endsWith("tunnel") ? "nemo-relay-tls" : "websocket";
            all.add(new Exchange(
                    "GET " + path + LONE_UPGRADE,
                    "GET " + path + " HTTP/1.1\r\nhost: relay.test\r\nupgrade: " + protocol + "\r\n\r\n"));
        }
        all.add(Exchange.of(
                "GET /healthz", "", "connection: upgrade, http2-settings", "upgrade: h2c", "http2-settings: AAMAAABk"));
        all.add(Exchange.of(
                "POST /v1/messages",
                "{}",
                "connection: upgrade, http2-settings",
                "upgrade: h2c",
                "http2-settings: AAMAAABk"));
        all.add(Exchange.of("GET /v1/responses", "", "upgrade: WebSocket", "connection: Upgrade", MALFORMED));
        all.add(Exchange.of("POST /v1/responses", "{}", upgrade));
        all.add(Exchange.of("POST /v1/messages", "{}", "connection: upgrade", "upgrade: h2c"));
        for (String connection :
                List.of("\u00e9", "", ",", "a,,b", "a b c;;", "a;b", "\"x\"", "keep-alive, @", "!#$%&'*+-.^_`|~")) {
            all.add(Exchange.of("POST /v1/messages", "{}", "connection: " + connection));
        }
        for (String path : List.of("/_nemo-relay/control/v1/mcp", "/_nemo-relay/control/v1/worker")) {
            all.add(Exchange.of("GET " + path, ""));
            all.add(Exchange.of("GET " + path, "", upgrade));
            all.add(Exchange.of(
                    "GET " + path, "", "connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13"));
            all.add(Exchange.of(
                    "GET " + path,
                    "",
                    "connection: upgrade",
                    "upgrade: websocket",
                    "sec-websocket-version: 8",
                    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="));
        }
        return all;
    }

    private static List<Exchange> framing() {
        return List.of(
                new Exchange("no request line", "garbage\r\n\r\n"),
                new Exchange(
                        "bad length", "POST /v1/messages HTTP/1.1\r\nhost: relay.test\r\ncontent-length: x\r\n\r\n"),
                new Exchange(
                        "length and chunked",
                        "POST /v1/messages HTTP/1.1\r\nhost: relay.test\r\ncontent-length: 3\r\n"
                                + "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
                new Exchange(
                        "a header of 100 KB",
                        "GET /healthz HTTP/1.1\r\nhost: relay.test\r\nx-big: " + "a".repeat(100_000) + "\r\n\r\n"),
                new Exchange(
                        "101 headers",
                        "GET /healthz HTTP/1.1\r\nhost: relay.test\r\n" + "x-many: 1\r\n".repeat(101) + "\r\n"));
    }

    static MockProvider provider() {
        MockProvider.Responder json = (request, reply) -> {
            String body = "{\"id\":\"msg_1\"}";
            reply.head(
                    200,
                    "date: Mon, 01 Jan 2024 00:00:00 GMT",
                    "server: mock",
                    "content-type: application/json",
                    "content-length: " + body.length(),
                    "x-request-id: req_1",
                    "x-multi: a",
                    "x-multi: b");
            reply.raw(body);
        };
        MockProvider.Responder stream = (request, reply) -> {
            reply.head(
                    200,
                    "date: Mon, 01 Jan 2024 00:00:00 GMT",
                    "server: mock",
                    "connection: keep-alive, x-hop",
                    "x-hop: gone",
                    "keep-alive: timeout=5",
                    "content-type: text/event-stream",
                    "transfer-encoding: chunked");
            for (String event : Answers.anthropicText("Hello")) {
                reply.chunk(event);
            }
            reply.end();
        };
        return new MockProvider()
                .respond("/v1/messages", stream)
                .respond("/v1/messages/count_tokens", json)
                .respond("/v1/responses", json)
                .respond("/v1/chat/completions", json)
                .respond("/v1/images/generations", (request, reply) -> reply.sized(500, "application/json", "{}"))
                .respond("/v1/models", json);
    }
}
