package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.Reply;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.ToolCall;

/** Plugins and settings change under open streams and under load: nothing is cut, nothing is lost (B22). */
@Timeout(180)
class LiveChangesTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String NAMED = "[[components]]\nkind = \"live\"\n[components.config]\nreason = \"%s\"\n";

    @TempDir
    Path folder;

    @Test
    void pluginsComeChangeAndGoUnderOpenStreams() throws Exception {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            String worker = relay.awaitReadyWorker(mcp);
            Path etc = bench.executable.resolve("../../etc").normalize();
            String before = Files.readString(etc.resolve("plugins.toml"));
            CountDownLatch changed = new CountDownLatch(1);
            slowStream(bench.provider, changed);
            List<RawHttp> streams = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                streams.add(openStream(relay, bench));
            }

            new PluginJar("live", Denying.class, HookPolicy.class).deploy(etc.resolve("plugins"));
            Files.writeString(etc.resolve("plugins.toml"), before + NAMED.formatted("one"));
            awaitHook(bench, relay, mcp, "one");
            Files.writeString(etc.resolve("plugins.toml"), before + NAMED.formatted("two"));
            awaitHook(bench, relay, mcp, "two");
            Files.writeString(
                    etc.resolve("plugins.toml"),
                    before + NAMED.replace("reason", "raeson").formatted("three"));
            int line = before.split("\n").length + 4;
            awaitLine(mcp, "etc/plugins.toml:" + line + ":1: plugin \"live\": raeson: unknown key");
            assertEquals("two\n", bench.bashHook(relay).stderr());
            Files.writeString(etc.resolve("plugins.toml"), before + "[[components\n");
            awaitLine(mcp, "etc/plugins.toml:" + (before.split("\n").length + 1) + ":");
            assertEquals("two\n", bench.bashHook(relay).stderr());
            new PluginJar("live", Denying.class, HookPolicy.class)
                    .header("Bundle-Version", "2.0.0")
                    .deploy(etc.resolve("plugins"));
            Files.writeString(etc.resolve("plugins.toml"), before + NAMED.formatted("four"));
            awaitHook(bench, relay, mcp, "four");
            Files.writeString(etc.resolve("plugins.toml"), before);
            awaitHook(bench, relay, mcp, "");

            changed.countDown();
            for (RawHttp stream : streams) {
                assertTrue(stream.answer().text().endsWith("data: last\n\n"));
                stream.close();
            }
            assertEquals(worker, relay.awaitReadyWorker(mcp), "the worker is the same");
        }
    }

    /** A file that is lost, emptied, cut off or misspelt takes no policy out of force; only one that says so does. */
    @Test
    void noPolicyGoesOutOfForceUnsaid() throws Exception {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            Path etc = bench.executable.resolve("../../etc").normalize();
            Path toml = etc.resolve("plugins.toml");
            new PluginJar("live", Denying.class, HookPolicy.class).deploy(etc.resolve("plugins"));
            String good = NAMED.formatted("denied");
            Files.writeString(toml, good);
            awaitHook(bench, relay, mcp, "denied");

            Map<String, String> ways = new LinkedHashMap<>();
            ways.put("", toml + " says nothing, not even that there are no components (components = [])");
            ways.put(
                    good.replace("components]]", "componnts]]"),
                    toml + ":1:1: \"componnts\" is not a known key; did you");
            ways.put("gone", toml + " is gone, not even that there are no components (components = [])");
            for (Map.Entry<String, String> way : ways.entrySet()) {
                if (way.getKey().equals("gone")) {
                    Files.delete(toml);
                } else {
                    Files.writeString(toml, way.getKey());
                }
                String end = "; what was in force stays in force until this is corrected";
                Await.until(
                        () -> way + "\nin " + mcp.process().transcript(),
                        LIMIT,
                        () -> mcp.process()
                                .stderr()
                                .lines()
                                .anyMatch(line -> line.contains("event=configuration_rejected")
                                        && line.contains(way.getValue())
                                        && line.endsWith(end)));
                Await.until(
                        () -> way + "\nin " + reported(bench, relay),
                        LIMIT,
                        () -> reported(bench, relay).stream()
                                .anyMatch(line -> line.string("state").equals("quarantined")
                                        && line.string("file").equals(toml.toString())
                                        && line.string("reason").startsWith(way.getValue())));
                assertEquals("denied\n", bench.bashHook(relay).stderr());
                // One at a time: the same line again would not tell the next way from this one.
                Files.writeString(toml, good);
                Await.until(
                        () -> "nothing is rejected any more: " + reported(bench, relay),
                        LIMIT,
                        () -> reported(bench, relay).stream()
                                .noneMatch(line -> line.string("file").equals(toml.toString())));
            }
            Files.writeString(toml, "components = []\n");
            awaitHook(bench, relay, mcp, "");
        }
    }

    /** What the daemon has been told by workers: {@code plugins list} shows the same. */
    private static List<JsonObject> reported(OneUser bench, Relay relay) {
        Proc.Result result = bench.user
                .withToken(bench.executable.toString(), "status", "--json", "--port", "" + relay.port())
                .run(LIMIT);
        return Json.parseObject(result.stdout().strip()).objects("plugins");
    }

    @Test
    void anotherProviderServesNewRequestsAndABadFileChangesNothing() throws Exception {
        try (OneUser bench = new OneUser(folder);
                MockProvider other = new MockProvider();
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            Path config = bench.executable.resolve("../../etc/config.toml").normalize();
            CountDownLatch changed = new CountDownLatch(1);
            slowStream(bench.provider, changed);
            RawHttp stream = openStream(relay, bench);

            Files.writeString(config, Relay.upstreamToml(other) + "[daemon]\nmax_tokens_per_identity = 5\n");
            Await.until(
                    () -> "the other provider is asked\n" + mcp.process().transcript(),
                    LIMIT,
                    () -> post(relay, bench, "/v1/responses") == 200
                            && !other.received("/v1/responses").isEmpty());
            // The daemon reads the same file, and this setting is one of its listener's.
            Await.until(
                    relay.process().transcript(),
                    LIMIT,
                    () -> relay.process()
                            .stderr()
                            .contains("daemon.max_tokens_per_identity takes effect when the daemon is started again"));
            int asked = other.received("/v1/responses").size();
            Files.writeString(config, "[upstream]\nopenai_base_urls = \"x\"\n");
            awaitLine(mcp, "etc/config.toml:2:1: [upstream] \"openai_base_urls\" is not a known key");
            assertEquals(200, post(relay, bench, "/v1/responses"));
            assertEquals(asked + 1, other.received("/v1/responses").size());
            // The default provider is another company's: nobody gets there because a file is lost.
            Files.delete(config);
            awaitLine(mcp, config + " is gone; for the defaults leave a file with an empty table, such as [upstream]");
            assertEquals(200, post(relay, bench, "/v1/responses"));
            assertEquals(asked + 2, other.received("/v1/responses").size());

            changed.countDown();
            assertTrue(stream.answer().text().endsWith("data: last\n\n"));
            stream.close();
        }
    }

    /** The daemon's own requests, of users without a worker. */
    @Test
    void anotherProviderServesTheDaemonsNewRequestsToo() throws Exception {
        try (OneUser bench = new OneUser(folder);
                MockProvider other = new MockProvider();
                Relay relay =
                        Relay.start(bench.user, bench.executable, Proc.spec().env("NEMO_RELAY_LOG", "info"))) {
            Path config = bench.executable.resolve("../../etc/config.toml").normalize();
            CountDownLatch changed = new CountDownLatch(1);
            slowStream(bench.provider, changed);
            RawHttp stream = openStream(relay, bench);
            assertEquals(200, post(relay, bench, "/v1/responses"));
            assertEquals(1, bench.provider.received("/v1/responses").size());

            Files.writeString(config, Relay.upstreamToml(other));
            Await.until(
                    () -> "the other provider is asked\n" + relay.process().transcript(),
                    LIMIT,
                    () -> post(relay, bench, "/v1/responses") == 200
                            && !other.received("/v1/responses").isEmpty());
            int asked = other.received("/v1/responses").size();
            Files.writeString(config, "[upstream]\nopenai_base_urls = \"x\"\n");
            Await.until(
                    () -> "the daemon says what is wrong\n" + relay.process().transcript(),
                    LIMIT,
                    () -> relay.process()
                            .stderr()
                            .contains("etc/config.toml:2:1: [upstream] \"openai_base_urls\" is not a known key"));
            assertEquals(200, post(relay, bench, "/v1/responses"));
            assertEquals(asked + 1, other.received("/v1/responses").size());
            // The default provider is another company's: nobody gets there because a file is lost.
            Files.delete(config);
            Await.until(
                    () -> "the daemon says what is gone\n" + relay.process().transcript(),
                    LIMIT,
                    () -> relay.process().stderr().contains(config + " is gone; for the defaults leave a file with"));
            assertEquals(200, post(relay, bench, "/v1/responses"));
            assertEquals(asked + 2, other.received("/v1/responses").size());

            changed.countDown();
            assertTrue(stream.answer().text().endsWith("data: last\n\n"));
            stream.close();
        }
    }

    /** What the daemon logs, and where, changes under an open stream; what cannot change says so at every level. */
    @Test
    void theDaemonsLogChangesLiveAndItsTokenLimitSaysThatItDoesNot() throws Exception {
        try (OneUser bench = new OneUser(folder)) {
            Path config = bench.executable.resolve("../../etc/config.toml").normalize();
            String before = Files.readString(config);
            Files.writeString(config, before + "[daemon.logging]\nlevel = \"error\"\n");
            try (Relay relay = Relay.start(bench.user, bench.executable, Proc.spec())) {
                CountDownLatch changed = new CountDownLatch(1);
                slowStream(bench.provider, changed);
                RawHttp stream = openStream(relay, bench);
                assertEquals(200, post(relay, bench, "/v1/responses"));

                Files.writeString(
                        config,
                        before
                                + "[daemon]\nmax_tokens_per_identity = 5\n[daemon.logging]\nlevel = \"error\"\nstderr_format = \"jsonl\"\n");
                String restart = ": daemon.max_tokens_per_identity takes effect when the daemon is started again";
                Await.until(
                        () -> restart + "\nin " + relay.process().transcript(),
                        LIMIT,
                        () -> relay.process()
                                .stderr()
                                .lines()
                                .anyMatch(line -> line.startsWith("{") && line.contains(restart)));
                assertFalse(relay.process().stderr().contains("\"info\""), relay.process()::stderr);

                Path file = folder.resolve("daemon.log");
                Files.writeString(
                        config,
                        before + "[daemon.logging]\nlevel = \"info\"\nstderr_enabled = false\n"
                                + "[[daemon.logging.sinks]]\npath = \"" + file + "\"\n");
                Await.until(
                        () -> "requests are logged in " + file + "\n"
                                + relay.process().transcript(),
                        LIMIT,
                        () -> post(relay, bench, "/v1/responses") == 200
                                && Files.exists(file)
                                && Files.readString(file).contains("public_request_pass_through"));
                assertFalse(relay.process().stderr().contains("public_request_pass_through"));
                // The limit is again what is in force.
                assertFalse(Files.readString(file).contains("max_tokens_per_identity"));

                changed.countDown();
                assertTrue(stream.answer().text().endsWith("data: last\n\n"));
                stream.close();
            }
        }
    }

    @Test
    void noRequestIsLostWhilePluginsComeAndGo() throws Exception {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            Path etc = bench.executable.resolve("../../etc").normalize();
            String before = Files.readString(etc.resolve("plugins.toml"));
            AtomicInteger sent = new AtomicInteger();
            AtomicInteger failed = new AtomicInteger();
            List<Thread> clients = new ArrayList<>();
            CountDownLatch done = new CountDownLatch(1);
            for (int client = 0; client < 4; client++) {
                clients.add(Thread.ofVirtual().start(() -> {
                    while (done.getCount() > 0) {
                        // Paced: 200 requests a second from all of them.
                        try {
                            done.await(20, TimeUnit.MILLISECONDS);
                            sent.incrementAndGet();
                            if (post(relay, bench, "/v1/messages") != 200) {
                                failed.incrementAndGet();
                            }
                        } catch (RuntimeException | InterruptedException e) {
                            failed.incrementAndGet();
                        }
                    }
                }));
            }
            for (int round = 0; round < 4; round++) {
                new PluginJar("live", Denying.class, HookPolicy.class)
                        .header("Bundle-Version", round + ".0.0")
                        .deploy(etc.resolve("plugins"));
                Files.writeString(etc.resolve("plugins.toml"), before + NAMED.formatted("round " + round));
                awaitHook(bench, relay, mcp, "round " + round);
            }
            Files.writeString(etc.resolve("plugins.toml"), before);
            awaitHook(bench, relay, mcp, "");
            done.countDown();
            for (Thread client : clients) {
                client.join();
            }
            assertEquals(
                    0,
                    failed.get(),
                    () -> failed + " of " + sent + "\n" + mcp.process().transcript());
            assertEquals(sent.get(), bench.provider.received("/v1/messages").size());
        }
    }

    private static void slowStream(MockProvider provider, CountDownLatch end) {
        provider.script("/v1/messages", (head, connection) -> {
            connection.body(head, new ArrayList<>());
            Reply reply = connection.reply().head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
            reply.chunk("data: first\n\n");
            end.await();
            reply.chunk("data: last\n\n");
            reply.end();
        });
    }

    private static RawHttp openStream(Relay relay, OneUser bench) {
        return new RawHttp(relay.port(), Duration.ofMinutes(2))
                .send("POST", "/v1/messages", "{\"stream\":true}", bench.user.header());
    }

    private static int post(Relay relay, OneUser bench, String path) {
        return RawHttp.post(relay.port(), path, "{}", bench.user.header()).status();
    }

    /** Until the call is denied with this reason; with none, until it passes. */
    private static void awaitHook(OneUser bench, Relay relay, McpSession mcp, String reason) {
        String expected = reason.isEmpty() ? "" : reason + "\n";
        Await.until(
                () -> "the policy says \"" + reason + "\"\n" + mcp.process().transcript(),
                LIMIT,
                () -> bench.bashHook(relay).stderr().equals(expected));
    }

    private static void awaitLine(McpSession mcp, String text) {
        Await.until(
                () -> text + "\nin " + mcp.process().transcript(),
                LIMIT,
                () -> mcp.process().stderr().contains(text));
    }

    /** Denies with the reason that it is configured with. */
    public static final class Denying implements HookPolicy {
        private final String reason;

        public Denying(Map<String, Object> properties) {
            reason = PluginConfig.of(properties).only("reason").string("reason");
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.deny(reason));
        }
    }
}
