package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Lingering;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Stuck;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Waiting;

/** A plugin that does not come to its end is told in one line, in log and list, with the time that it had. */
@Timeout(120)
class OneLineForAnEndTest extends WithHost {
    @BeforeEach
    void giveTime() {
        host.stopWithin(60_000);
    }

    @Test
    void aSubscriberThatDoesNotComeBack() throws Exception {
        start(Subscribing.class, Map.of());
        plugins.snapshot().eventSinks().getFirst().publish(PluginsAreBroughtUpTest.event("a"));
        host.await(() -> Files.exists(folder.resolve("called")), () -> "it is called");
        removed(
                "is removed and has left threads behind, which keep its classes in memory: plugin-p; end them in the plugin's"
                        + " deactivation");
    }

    @Test
    void aPolicyThatDoesNotComeBack() throws Exception {
        start(Stuck.class, Map.of());
        plugins.snapshot().policies().getFirst().judge(call(), 50).join();
        removed(
                "is removed and has left threads behind, which keep its classes in memory: calls of p that have not come back;"
                        + " end them in the plugin's deactivation");
    }

    @Test
    void aDeactivationThatDoesNotComeBack() throws Exception {
        host.stopWithin(1_100);
        start(Lingering.class, Map.of());
        removed(
                "did not come to an end within 1 s and is abandoned: its threads stay until the worker ends; correct the"
                        + " plugin");
    }

    @Tag("long")
    @Test
    void aConstructorThatDoesNotComeBack() throws Exception {
        host.changeWithin(500);
        start();
        host.jar("etc/plugins/p.jar", "p", Waiting.class, Map.of());
        host.plan("p", OPTIONAL, Map.of("file", release.toString())).replan();
        told(
                "is removed and has left threads behind, which keep its classes in memory: plugin-p-1; end them in the plugin's"
                        + " deactivation");
    }

    @Test
    void oneThatInterruptsWhatEndsIt() throws Exception {
        start(Interrupting.class, Map.of());
        removed(
                "is removed and has left threads behind, which keep its classes in memory: left over; end them in the plugin's"
                        + " deactivation");
    }

    /** Its copy cannot be deleted. */
    @Test
    void oneThatCannotBeEnded() throws Exception {
        start(Lingering.class, Map.of());
        Files.createFile(release);
        Path copy;
        try (Stream<Path> files = Files.walk(folder.resolve("storage"))) {
            copy = files.filter(file -> file.toString().contains(Generation.COPY))
                    .findFirst()
                    .orElseThrow();
        }
        Files.delete(copy);
        Files.createDirectories(copy.resolve("not empty"));
        removed("cannot be ended (java.nio.file.DirectoryNotEmptyException: " + copy
                + ") and is abandoned: what it holds may stay until the worker ends; correct the plugin");
    }

    private void start(Class<?> component, Map<String, String> headers) throws Exception {
        host.jar("etc/plugins/p.jar", "p", component, headers);
        host.plan("p", OPTIONAL, Map.of("file", release.toString()));
        start();
        assertEquals("active", plugins.status().getFirst().state().word());
    }

    private void removed(String line) throws Exception {
        host.noPlan().replan();
        told(line);
    }

    private void told(String line) throws Exception {
        host.awaitLog("ERROR plugin_abandoned: ");
        String whole = "plugin p 1.2.3 of " + host.home + "/etc/plugins/p.jar " + line;
        host.await(
                () -> plugins.status().stream().map(PluginStatus::reason).anyMatch(whole::equals),
                () -> whole + "\nnot in " + plugins.status() + "\n" + host.log);
        host.stopHost();
        assertEquals(
                List.of("ERROR plugin_abandoned: " + whole),
                host.log.stream()
                        .filter(one -> one.contains("plugin_abandoned"))
                        .toList());
    }

    public static final class Subscribing implements EventSubscriber {
        private final Path file;

        public Subscribing(Map<String, Object> properties) {
            file = Path.of(PluginConfig.of(properties).string("file"));
        }

        @Override
        public void onEvent(Event event) throws IOException {
            Files.createFile(file.resolveSibling("called"));
            while (!Files.exists(file)) {
                LockSupport.parkNanos(1_000_000);
                Thread.interrupted();
            }
        }
    }

    /** Leaves a thread, and the one that it ends on interrupted. */
    public static final class Interrupting extends Allowing implements AutoCloseable {
        public Interrupting(Map<String, Object> properties) {
            Path file = Path.of(PluginConfig.of(properties).string("file"));
            Thread left = new Thread(
                    () -> {
                        while (!Files.exists(file)) {
                            LockSupport.parkNanos(1_000_000);
                        }
                    },
                    "left over");
            left.setDaemon(true);
            left.start();
        }

        @Override
        public void close() {
            Thread.currentThread().interrupt();
        }
    }
}
