package org.nemorelay.carrier.nats.internal;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.PermissionDeniedException;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.NatsServer;
import org.nemorelay.testkit.Recorder;
import org.nemorelay.workerctl.BackendListReply;

/** What the server denies is an error of the call that asked for it, not silence (LocalAI#10548). */
class PermissionTest {
    private final Recorder recorder = new Recorder();

    @TempDir
    Path folder;

    private NatsServer server;
    private NatsCarrier carrier;

    @BeforeEach
    void open() throws Exception {
        server = NatsServer.start("authorization { users: [ { user: ann, password: x, permissions: {"
                + " subscribe: { deny: [\"jobs.secret\", \"nodes.other.>\", \"agent.execute\"] },"
                + " publish: { deny: [\"cache.>\", \"nodes.other.>\", \"jobs.new\"] } } } ] }");
        carrier = Links.connected(
                Map.of(
                        "servers",
                        Links.at(server),
                        "user",
                        "ann",
                        "password_file",
                        Files.writeString(folder.resolve("p"), "x").toString()),
                recorder);
    }

    @AfterEach
    void close() {
        carrier.close();
        server.close();
    }

    @Test
    void aDeniedSubscriptionIsAnErrorAtOnceAndNothingStands() {
        AtomicInteger seen = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            assertThrows(
                    PermissionDeniedException.class,
                    () -> carrier.broadcaster().subscribe("jobs.secret", message -> seen.incrementAndGet()));
        }
        carrier.broadcaster().subscribe("jobs.other", message -> seen.incrementAndGet());
        carrier.broadcaster().publish("jobs.other", new byte[0]);
        Await.until("the others go on", () -> seen.get() == 1);
    }

    @Test
    void aDeniedVerbAndADeniedConsumerAreErrorsToo() {
        assertThrows(
                PermissionDeniedException.class,
                () -> carrier.controlServer("other")
                        .handle(
                                ControlVerb.BACKEND_LIST,
                                Need.MANDATORY,
                                ControlHandler.unary(context -> new BackendListReply(java.util.List.of(), ""))));
        assertThrows(
                PermissionDeniedException.class,
                () -> carrier.workConsumer()
                        .consume(Context.background(), WorkKind.AGENT_RUN, 0, (context, payload, events) -> {}));
    }

    @Test
    void aDeniedCallFailsAtOnceAndNotAfterItsTime() {
        long start = System.nanoTime();
        PermissionDeniedException denied = assertThrows(
                PermissionDeniedException.class, () -> carrier.commands().listBackends("other"));
        assertTrue(System.nanoTime() - start < 500_000_000L);
        assertTrue(denied.getMessage().contains("nodes.other.backend.list"), denied.getMessage());
    }

    @Test
    void aDeniedPublishIsSaidAndTheNextOnesFail() {
        carrier.broadcaster().publish("cache.invalidate.models", new byte[0]);
        carrier.broadcaster().flush(Duration.ofSeconds(5));
        assertThrows(
                PermissionDeniedException.class,
                () -> carrier.broadcaster().publish("cache.invalidate.models", new byte[0]));
        carrier.workQueue().enqueue(Context.background(), WorkKind.TASK, new byte[0]);
        carrier.workQueue().flush(Duration.ofSeconds(5));
        assertThrows(
                PermissionDeniedException.class,
                () -> carrier.workQueue().enqueue(Context.background(), WorkKind.TASK, new byte[0]));
        assertTrue(recorder.lines().stream()
                .anyMatch(line -> line.startsWith("ERROR") && line.contains("cache.invalidate.models")));
    }
}
