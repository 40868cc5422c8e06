package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;

/**
 * While a daemon stops with a stream running, {@code nemo-relay status} tells so; its successor on the port is shown in full
 * beside it, as this account's own.
 */
@Timeout(240)
class StoppingDaemonStatusTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String EVENT = "data: on\n\n";

    @TempDir
    Path folder;

    @Test
    void theOldOneIsToldAsStoppingAndTheNewOneAsOnesOwn() throws Exception {
        CountDownLatch finish = new CountDownLatch(1);
        try (OneUser bench = new OneUser(folder);
                Clients clients = new Clients();
                Relay relay = bench.daemon()) {
            bench.provider.respond(Route.PASS_THROUGH.at("/v1/messages"), (request, reply) -> {
                reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                reply.chunk(EVENT);
                finish.await();
                reply.chunk(EVENT).end();
            });
            String pid = Long.toString(relay.process().pid());
            try (Call stream = clients.post(Version.HTTP_1_1, relay.port(), "/v1/messages")
                    .data("{}".getBytes(StandardCharsets.UTF_8))
                    .end()) {
                assertEquals(200, stream.head().status());
                assertEquals(EVENT, stream.read(EVENT.length()));
                relay.process().signal("TERM");
                Await.until("nothing new is accepted", Duration.ofSeconds(5), () -> refused(relay));
                Proc.Result alone = status(bench, relay.port());
                assertEquals(1, alone.exit(), alone.stdout());
                assertTrue(
                        alone.stderr()
                                .contains("no daemon serves at http://127.0.0.1:" + relay.port()
                                        + "; the one with process id " + pid
                                        + " is stopping (requests that still run: 1, for "),
                        alone.stderr());
                try (Proc successor = bench.user
                        .spec(bench.executable.toString(), "daemon", "--port", Integer.toString(relay.port()))
                        .start()) {
                    Await.until("the successor listens", LIMIT, () -> !refused(relay));
                    Await.until(
                            "it has the socket",
                            LIMIT,
                            () -> status(bench, relay.port())
                                    .stdout()
                                    .contains("\n  pid          " + successor.pid() + "\n"));
                    String both = status(bench, relay.port()).stdout();
                    assertTrue(both.contains("\nSessions: none\n"), both);
                    assertTrue(both.contains("\nStopping: 1\n  PID"), both);
                    assertTrue(both.contains("\n  " + pid + " "), both);
                    finish.countDown();
                    assertEquals(EVENT, new String(stream.rest(), StandardCharsets.UTF_8));
                    assertEquals(0, relay.process().awaitExit(LIMIT));
                    String later = status(bench, relay.port()).stdout();
                    assertTrue(later.contains("\n  pid          " + successor.pid() + "\n"), later);
                    assertTrue(!later.contains("Stopping"), later);
                }
            }
        }
    }

    private static Proc.Result status(OneUser bench, int port) {
        return bench.user
                .spec(bench.executable.toString(), "status", "--port", Integer.toString(port))
                .run(LIMIT);
    }

    private static boolean refused(Relay relay) {
        try (Socket client = new Socket("127.0.0.1", relay.port())) {
            return !client.isConnected();
        } catch (IOException e) {
            return true;
        }
    }
}
