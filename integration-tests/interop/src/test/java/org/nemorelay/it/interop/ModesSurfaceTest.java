package org.nemorelay.it.interop;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Maker;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** As {@link DaemonSurfaceTest}, for the other modes of a daemon and for users with a session: whose keys go where. */
class ModesSurfaceTest {
    /** That of the user who has a session; the same with both makers, so that it is no difference. */
    private static final String TOKEN = "B".repeat(42) + "A";

    private static final String BOUND = "x-nemo-relay-client-token: " + TOKEN;

    /** The stock one calls every request that it refuses a hook's. */
    private static final String STOCKS_KIND = "invalid hook payload: ";

    /** Ours says which it was: no credential, or one that no session has registered. */
    private static final Map<String, String> CLEARER = Map.of(
            "\"a route credential is required\"", "\"exactly one route credential is required\"",
            "\"the route credential is not bound\"", "\"invalid route credential\"");

    @TempDir
    Path folder;

    @Test
    void aDaemonThatRequiresAWorkerRefusesAlike() {
        try (MockProvider provider = DaemonSurfaceTest.provider();
                Side stock = new Side(Maker.STOCK, Relay.upstream(provider), "--require-worker");
                Side ours = new Side(Maker.OURS, Relay.upstream(provider), "--require-worker")) {
            List<Exchange> exchanges = new ArrayList<>();
            exchanges.addAll(DaemonSurfaceTest.ownPaths());
            exchanges.addAll(DaemonSurfaceTest.credentials());
            exchanges.addAll(DaemonSurfaceTest.hooks());
            exchanges.add(Exchange.of("POST /v1/nope", "{}"));
            exchanges.add(Exchange.of("GET /v1/messages", ""));
            exchanges.add(Exchange.of("GET /v1/models", ""));
            exchanges.add(Exchange.of("GET /v1/models", "", DaemonSurfaceTest.UNBOUND));
            exchanges.add(Exchange.of("GET /v1/responses", "", "connection: upgrade", "upgrade: websocket"));
            exchanges.add(Exchange.of(
                    "GET /v1/responses", "", "connection: upgrade", "upgrade: websocket", DaemonSurfaceTest.UNBOUND));
            compare(exchanges, provider, stock, ours);
        }
    }

    @Test
    void aDaemonThatBypassesLendsItsKeysAlike() {
        try (MockProvider provider = DaemonSurfaceTest.provider()) {
            for (Proc.Spec keys : List.of(
                    Relay.upstream(provider)
                            .env("OPENAI_API_KEY", " sk-openai ")
                            .env("ANTHROPIC_API_KEY", "sk-anthropic"),
                    Relay.upstream(provider)
                            .env("OPENAI_API_KEY", "")
                            .env("ANTHROPIC_API_KEY", "sk-unused")
                            .env("NEMO_RELAY_ANTHROPIC_AUTH_HEADER", "Bearer configured"))) {
                try (Side stock = new Side(Maker.STOCK, keys, "--pass-through");
                        Side ours = new Side(Maker.OURS, keys, "--pass-through")) {
                    List<Exchange> exchanges = new ArrayList<>(DaemonSurfaceTest.hooks());
                    exchanges.addAll(keys(provider));
                    keys(provider)
                            .forEach(exchange ->
                                    exchanges.add(named("unbound ", exchange).with(DaemonSurfaceTest.UNBOUND)));
                    compare(exchanges, provider, stock, ours);
                    try (McpSession stocks = stock.session();
                            McpSession own = ours.session()) {
                        exchanges.clear();
                        keys(provider)
                                .forEach(exchange ->
                                        exchanges.add(named("bound ", exchange).with(BOUND)));
                        compare(exchanges, provider, stock, ours);
                        stocks.end();
                        own.end();
                    }
                }
            }
        }
    }

    private static Exchange named(String prefix, Exchange exchange) {
        return new Exchange(prefix + exchange.name(), exchange.request());
    }

    /** Requests with each credential that a caller may send, and with providers that it names. */
    private static List<Exchange> keys(MockProvider provider) {
        List<Exchange> all = new ArrayList<>();
        for (String line : List.of(
                "POST /v1/messages",
                "POST /v1/responses",
                "POST /responses?a=b",
                "POST /backend-api/codex/responses",
                "POST /v1/chat/completions")) {
            all.add(Exchange.of(line, DaemonSurfaceTest.MESSAGE));
            for (String own : List.of(
                    "authorization: Bearer mine",
                    "authorization: Bearer eyJhbGciOiJub25lIn0.e30.",
                    "authorization: Basic bWluZQ==",
                    "authorization:",
                    "x-api-key: mine",
                    "api-key: mine",
                    "anthropic-api-key: mine",
                    "cookie: a=b")) {
                all.add(Exchange.of(line, DaemonSurfaceTest.MESSAGE, own));
            }
            String base = "x-nemo-relay-upstream-base-url: ";
            for (String named : List.of(
                    provider.origin(),
                    provider.origin() + "/named/",
                    provider.origin() + "/v1",
                    "nope",
                    "",
                    "http://relay.example",
                    "ftp://127.0.0.1",
                    "http://u:p@127.0.0.1:1",
                    "http://127.0.0.1:1/?q")) {
                all.add(Exchange.of(line, DaemonSurfaceTest.MESSAGE, base + named, "x-api-key: mine"));
            }
            all.add(Exchange.of(line, DaemonSurfaceTest.MESSAGE, base + provider.origin()));
        }
        all.add(Exchange.of("GET /v1/models", ""));
        all.add(Exchange.of("GET /models?a=b", "", "authorization: Bearer mine"));
        return all;
    }

    private static void compare(List<Exchange> exchanges, MockProvider provider, Side stock, Side ours) {
        Comparison comparison = new Comparison(DaemonSurfaceTest.ACCEPTED);
        for (Exchange exchange : exchanges) {
            comparison.of(
                    exchange.name(),
                    exchange.treatment(stock.relay.port(), provider).replace(STOCKS_KIND, ""),
                    CLEARER.entrySet().stream()
                            .reduce(
                                    exchange.treatment(ours.relay.port(), provider),
                                    (text, entry) -> text.replace(entry.getKey(), entry.getValue()),
                                    (text, unused) -> text));
        }
        comparison.hold();
    }

    /** A daemon, and a user who may have a session with it. */
    private final class Side implements AutoCloseable {
        private final Path executable;
        private final User user;
        final Relay relay;

        Side(Maker maker, Proc.Spec environment, String... options) {
            executable = maker.executable();
            user = User.self(folder.resolve(maker.name()));
            relay = Relay.start(user, executable, environment, options);
        }

        McpSession session() {
            McpSession session = McpSession.start(
                    user.spec(executable.toString(), "daemon", "mcp", "--daemon-address", relay.address())
                            .env(Map.of("NEMO_RELAY_CLIENT_TOKEN", TOKEN)));
            session.initialize();
            return session;
        }

        @Override
        public void close() {
            relay.close();
        }
    }
}
