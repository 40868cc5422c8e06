package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Lingering;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.startlevel.BundleStartLevel;

/** Whatever a plugin does at start and stop: the framework's own threads do not run it, and the others come to their end. */
@Timeout(120)
class PluginsEndWithTheWorkerTest extends WithHost {
    private static final String FOLDER = "org.nemorelay.pluginhost.test.folder";

    @BeforeEach
    @Override
    void open() throws Exception {
        super.open();
        System.setProperty(FOLDER, folder.toString());
    }

    @AfterEach
    @Override
    void close() throws Exception {
        super.close();
        System.clearProperty(FOLDER);
    }

    /** The framework starts by itself what is marked as started, once it comes to its start level. */
    @Test
    void whatHangsInItsActivatorIsStartedOnceAndEnds() throws Exception {
        Path busy = host.jar("busy.jar", "busy", Holding.class, activatedBy(Holding.class));
        Bundle other = host.context().installBundle(busy.toUri().toString());
        Thread starter = Thread.ofPlatform().start(() -> {
            try {
                other.start();
            } catch (BundleException e) {
                throw new IllegalStateException(e);
            }
        });
        host.await(() -> other.getState() == Bundle.STARTING, () -> "the framework's thread has nothing to wait for");
        other.adapt(BundleStartLevel.class).setStartLevel(1);

        host.jar("etc/plugins/p.jar", "p", Hanging.class, activatedBy(Hanging.class));
        host.plan("p", OPTIONAL, Map.of()).start();
        host.await(() -> starts().size() == 1, () -> "it starts " + host.log);
        Files.createFile(release);
        starter.join();
        host.await(
                () -> Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().equals("FelixStartLevel"))
                        .allMatch(thread -> thread.getState() == Thread.State.WAITING),
                () -> "the framework's thread is at the plugin, or done");
        host.noPlan().replan();
        host.await(
                () -> Stream.of(host.context().getBundles()).noneMatch(Generation::isPlugin) || starts().size() > 1,
                () -> "it ends " + host.log);
        assertEquals(List.of("plugin-p-start"), starts());
        assertTrue(host.stopFramework(20_000), "the framework has stopped");
    }

    @Test
    void oneThatHangsInItsEndKeepsNoOtherFromItsOwn() throws Exception {
        List<String> others = List.of("a", "c");
        for (String other : others) {
            host.jar("etc/plugins/" + other + ".jar", other, Telling.class, Map.of());
            host.plan(other, OPTIONAL, Map.of("file", folder.resolve(other).toString()));
        }
        host.jar("etc/plugins/b.jar", "b", Lingering.class, Map.of());
        host.plan("b", OPTIONAL, Map.of("file", release.toString())).start();
        assertEquals(Optional.empty(), host.failure());
        CountDownLatch stopped = new CountDownLatch(1);
        Thread stop = Thread.ofPlatform().start(() -> {
            try {
                if (host.stopFramework(60_000)) {
                    stopped.countDown();
                }
            } catch (InterruptedException | BundleException e) {
                throw new IllegalStateException(e);
            }
        });
        host.await(
                () -> others.stream().allMatch(other -> Files.exists(folder.resolve(other))),
                () -> "the others ended " + host.log);
        host.awaitLog(
                "ERROR plugin_abandoned: plugin b 1.2.3 of " + host.home + "/etc/plugins/b.jar did not come to an end"
                        + " within 2 s, the worker ends without waiting for it; correct the plugin's deactivation");
        Files.createFile(release);
        stop.join();
        assertEquals(0, stopped.getCount());
    }

    private List<String> starts() {
        try {
            Path starts = folder.resolve("starts");
            return Files.exists(starts) ? Files.readAllLines(starts) : List.of();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Tells each start with its thread, and is not done before it is interrupted. */
    public static final class Hanging extends Allowing implements BundleActivator {
        @Override
        public void start(BundleContext context) throws Exception {
            Files.writeString(
                    Path.of(System.getProperty(FOLDER), "starts"),
                    Thread.currentThread().getName() + "\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
            new CountDownLatch(1).await();
        }

        @Override
        public void stop(BundleContext context) {}
    }

    /** Starts when a file is there. */
    public static final class Holding extends Allowing implements BundleActivator {
        @Override
        public void start(BundleContext context) throws InterruptedException {
            while (!Files.exists(Path.of(System.getProperty(FOLDER), "release"))) {
                Thread.sleep(5);
            }
        }

        @Override
        public void stop(BundleContext context) {}
    }

    /** Ends with a file. */
    public static final class Telling extends Allowing implements AutoCloseable {
        private final Path file;

        public Telling(Map<String, Object> properties) {
            file = Path.of(PluginConfig.of(properties).string("file"));
        }

        @Override
        public void close() throws IOException {
            Files.createFile(file);
        }
    }
}
