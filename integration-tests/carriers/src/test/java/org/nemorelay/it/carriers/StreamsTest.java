package org.nemorelay.it.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.backend.echo.EchoMain;
import org.nemorelay.carriers.Carriers;
import org.nemorelay.it.BundleVersion;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.NatsServer;
import org.nemorelay.testkit.Recorder;
import org.osgi.framework.Bundle;

/** gRPC from a bundle file in a real framework, to a backend that is a process. */
class StreamsTest {
    private static final Path DIRECT = Path.of(System.getProperty("carrier.direct.bundle"));
    private static final int WORDS = 40;

    @TempDir
    Path folder;

    private final Recorder recorder = new Recorder();
    private Host host;
    private Process backend;
    private int port;

    @BeforeEach
    void start() throws Exception {
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        backend = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        EchoMain.class.getName(),
                        "--addr",
                        "127.0.0.1:" + port,
                        "--token-delay-ms",
                        "50")
                .redirectError(folder.resolve("backend").toFile())
                .start();
        host = new Host(folder, recorder);
        host.configure("getConfiguration", "org.nemorelay.distributed", "", Map.of("carrier", "a", "dial", "direct"));
        host.configure(
                "getFactoryConfiguration", "org.nemorelay.carrier.direct", "direct", Map.of("carrier", "direct"));
    }

    @AfterEach
    void stop() throws Exception {
        host.stop();
        backend.destroyForcibly();
    }

    /** By name, as an administrator writes it. */
    private BackendClient client() {
        return host.service(BackendClientFactory.class).newClient("n", "localhost:" + port, true);
    }

    private void awaitHealthy() {
        Await.until("the backend answers", () -> {
            try (BackendClient client = client()) {
                byte[] reply =
                        client.call(Context.background().withTimeout(Duration.ofSeconds(5)), "Health", new byte[0]);
                return new String(reply, StandardCharsets.UTF_8).contains("OK");
            } catch (SeamException e) {
                return false;
            }
        });
    }

    private static byte[] text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        byte[] message = new byte[bytes.length + 2];
        message[0] = 10;
        message[1] = (byte) bytes.length;
        System.arraycopy(bytes, 0, message, 2, bytes.length);
        return message;
    }

    private static boolean anyGrpcThread() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread ->
                        thread.getName().startsWith("grpc") || thread.getName().contains("netty"));
    }

    @Test
    void b35ItsProvidersAreFoundAlsoAfterTheBundleWasReplacedTwiceAndNothingIsLeft() throws Exception {
        Bundle direct = host.install(DIRECT);
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        awaitHealthy();
        for (int round = 1; round <= 2; round++) {
            loaders.add(Host.loader(direct));
            Path next = folder.resolve("direct-" + round + ".jar");
            BundleVersion.write(DIRECT, next, "0.1.0.r" + round);
            try (var in = Files.newInputStream(next)) {
                direct.update(in);
            }
            host.refresh(direct);
            awaitHealthy();
        }
        loaders.add(Host.loader(direct));
        direct.uninstall();
        host.refresh(direct);
        Await.until("no thread of gRPC is left", () -> !anyGrpcThread());
        Await.until("no class loader of the carrier is left", () -> {
            System.gc();
            return loaders.stream().allMatch(loader -> loader.refersTo(null));
        });
    }

    @Test
    void b22OpenStreamsGoOnWhileCarriersAreChanged() throws Exception {
        try (NatsServer server = NatsServer.start()) {
            host.install(DIRECT);
            host.install(Path.of(System.getProperty("carrier.nats.bundle")));
            for (String name : List.of("a", "b")) {
                host.configure(
                        "getFactoryConfiguration",
                        "org.nemorelay.carrier.nats",
                        name,
                        Map.of("carrier", name, "servers", new String[] {server.url()}));
            }
            awaitHealthy();
            Carriers carriers = host.service(Carriers.class);
            Await.until(
                    "all carriers are connected",
                    () -> carriers.status().present().size() >= 3
                            && carriers.status().present().stream().allMatch(Carriers.Present::connected));
            AtomicInteger words = new AtomicInteger();
            List<Thread> streams = new ArrayList<>();
            try (BackendClient client = client()) {
                client.call(Context.background(), "LoadModel", text("m"));
                // The test fails by its count if a stream ends early.
                for (int i = 0; i < 3; i++) {
                    streams.add(Thread.ofVirtual().start(() -> {
                        try (BackendClient.Call call = client.open(Context.background(), "PredictStream")) {
                            call.send(text("w ".repeat(WORDS).strip()));
                            call.halfClose();
                            for (Optional<byte[]> next = call.next(); next.isPresent(); next = call.next()) {
                                words.incrementAndGet();
                            }
                        }
                    }));
                }
                Await.until("the streams run", () -> words.get() >= 3);
                for (int swap = 0; swap < 4; swap++) {
                    carriers.use(swap % 2 == 0 ? "b" : "a", Duration.ofSeconds(10));
                }
                assertTrue(words.get() < 3 * WORDS, "the streams still run");
                Await.until("the streams end", () -> streams.stream().noneMatch(Thread::isAlive));
            }
            assertEquals(3 * WORDS, words.get());
        }
    }
}
