package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Appending;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;

/** What keeps a plugin from running is told with its place, and stops the worker where the plugin is required. */
@Timeout(120)
class PluginsThatCannotRunTest extends WithHost {
    private static final Optional<Boolean> REQUIRED = Optional.of(true);

    @Test
    void anUnknownKindStopsTheWorker() throws Exception {
        host.plan("nope", BY_KIND, Map.of()).start();
        assertEquals(Optional.of(unknown()), host.failure());
    }

    @Test
    void anUnknownKindThatIsOptionalIsNamedAndTheRestServes() throws Exception {
        host.plan("nope", Optional.of(false), Map.of());
        start();
        logged("ERROR plugin_quarantined: " + unknown());
        assertEquals(
                List.of(new PluginStatus("nope", "", PluginStatus.State.QUARANTINED, "", unknown())), plugins.status());
    }

    private String unknown() {
        return "plugins.toml:1:1: no bundle in " + host.home + "/plugins or " + host.home
                + "/etc/plugins provides the plugin kind \"nope\", put one there or remove the component";
    }

    @Test
    void aKindOfTwoBundlesIsRefused() throws Exception {
        Path one = host.jar("plugins/one.jar", "x", Appending.class, Map.of());
        Path two = host.jar("etc/plugins/two.jar", "x", Appending.class, Map.of());
        host.plan("x", REQUIRED, Map.of("file", folder.resolve("f").toString())).start();
        assertEquals(
                Optional.of("plugins.toml:1:1: the plugin kind \"x\" is provided by " + one + " and " + two
                        + ", remove one of them"),
                host.failure());
    }

    @Test
    void aMissingImportIsNamed() throws Exception {
        Path jar = host.jar(
                "plugins/x.jar",
                "x",
                Appending.class,
                Map.of("Import-Package", "org.nemorelay.plugin.api,com.missing"));
        host.plan("x", REQUIRED, Map.of("file", folder.resolve("f").toString())).start();
        assertEquals(
                Optional.of(jar
                        + ": plugin \"x\" needs the package com.missing, which nothing here provides; build it for this version or add what it"
                        + " needs"),
                host.failure());
    }

    @Test
    void aWrongApiVersionIsNamed() throws Exception {
        Path jar = host.jar(
                "plugins/x.jar",
                "x",
                Appending.class,
                Map.of("Import-Package", "org.nemorelay.plugin.api;version=\"[2.0,3)\""));
        host.plan("x", REQUIRED, Map.of("file", folder.resolve("f").toString())).start();
        assertEquals(
                Optional.of(jar + ": plugin \"x\" needs the package org.nemorelay.plugin.api in version 2.0.0 or later,"
                        + " below 3.0.0, which nothing here provides; build it for this version or add what it needs"),
                host.failure());
    }

    @Test
    void anUnusableValueIsNamedWithItsPlace() throws Exception {
        host.jar("plugins/x.jar", "x", Refusing.class, Map.of());
        host.plan("x", REQUIRED, Map.of("bad.0.key", "v")).start();
        assertEquals(
                Optional.of("plugins.toml:10:2: plugin \"x\": bad.0.key: is bad, write something else"),
                host.failure());
    }

    @Test
    void anActivationThatThrowsIsNamed() throws Exception {
        Path jar = host.jar("plugins/x.jar", "x", Throwing.class, Map.of());
        host.plan("x", REQUIRED, Map.of()).start();
        assertEquals(
                Optional.of("plugins.toml:1:1: plugin \"x\" (" + jar
                        + ") does not start: java.lang.IllegalStateException: on purpose; correct the plugin or remove"
                        + " the component"),
                host.failure());
    }

    /** Log and list have one line of it, whatever it is. */
    @Test
    void whatAnActivationThrowsIsAPartOfALine() throws Exception {
        Path jar = host.jar("plugins/x.jar", "x", Loud.class, Map.of());
        host.plan("x", OPTIONAL, Map.of());
        start();
        String said = "java.lang.IllegalStateException: one [2Jtwo ";
        String line = "plugins.toml:1:1: plugin \"x\" (" + jar + ") does not start: " + said
                + "x".repeat(500 - said.length()) + "…; correct the plugin or remove the component";
        host.awaitLog("ERROR plugin_quarantined: " + line);
        assertEquals(line, state("x").reason());
    }

    /** What a plugin throws is code of its own too, and none of that holds up the host. */
    @ParameterizedTest
    @ValueSource(classes = {Cyclic.class, Mute.class, Stuck.class, Endless.class})
    void whateverAnActivatorThrowsTheRestServes(Class<?> activator) throws Exception {
        host.jar("plugins/x.jar", "x", activator, activatedBy(activator));
        host.jar("plugins/good.jar", "good", Appending.class, Map.of());
        host.plan("x", Optional.of(false), Map.of())
                .plan("good", BY_KIND, Map.of("file", folder.resolve("f").toString()));
        start();
        assertEquals(1, plugins.snapshot().eventSinks().size());
        if (activator != Stuck.class) {
            host.awaitLog("ERROR plugin_quarantined: " + host.home + "/plugins/x.jar: plugin \"x\" does not start: ");
        }
        assertTrue(host.log.stream().allMatch(line -> line.length() < 3_000), "no line is endless");
    }

    @Test
    void anObserverIsOptionalUnlessTheFileRequiresIt() throws Exception {
        host.jar("plugins/x.jar", "x", Throwing.class, Map.of());
        host.jar("plugins/good.jar", "good", Appending.class, Map.of());
        host.plan("x", BY_KIND, Map.of())
                .plan("good", BY_KIND, Map.of("file", folder.resolve("f").toString()));
        start();
        assertEquals(1, plugins.snapshot().eventSinks().size());
        logged("ERROR plugin_quarantined: plugins.toml:1:1: plugin \"x\"");
    }

    @Test
    void whatIsNoObserverIsRequiredUnlessTheFileSaysOtherwise() throws Exception {
        host.jar("plugins/x.jar", "x", Throwing.class, policies("x"));
        host.plan("x", BY_KIND, Map.of()).start();
        assertTrue(host.failure().orElseThrow().contains("on purpose"));
    }

    @Test
    void aBundleWithoutTheComponentOfItsKindIsRefused() throws Exception {
        Path jar = host.jar(
                "plugins/x.jar", "y", Appending.class, Map.of("Provide-Capability", "org.nemorelay.plugin;kind=x"));
        host.plan("x", BY_KIND, Map.of()).start();
        assertEquals(
                Optional.of(
                        jar + ": plugin \"x\" has no component with the configuration PID \"x\"; correct the plugin"),
                host.failure());
    }

    /** All of it is told, before anything of the plugin runs. */
    @Test
    void aConfigurationThatTheManifestDoesNotDeclareIsRefused() throws Exception {
        host.jar(
                "plugins/x.jar",
                "x",
                Throwing.class,
                Map.of(
                        "Provide-Capability",
                        "org.nemorelay.plugin;kind=x;observer=true;config:List<String>=\"deny [string],mode! =a|b\""));
        host.plan("x", Optional.of(true), Map.of("denny", new String[] {"Bash"}))
                .start();
        assertEquals(
                Optional.of("plugins.toml:6:2: plugin \"x\": denny: unknown key; did you mean \"deny\"?;"
                        + " plugins.toml:5:2: plugin \"x\": mode: missing; write one of a, b"),
                host.failure());
    }

    /** Of two kinds in one bundle none is off without a word because the other is. */
    @Test
    void aKindThatDoesNotRunForAnothersSakeSaysSo() throws Exception {
        Path jar = host.jar(
                "plugins/x.jar",
                "x y",
                Appending.class,
                Map.of(
                        "Provide-Capability",
                        "org.nemorelay.plugin;kind=x;config=\"deny [string]\",org.nemorelay.plugin;kind=y",
                        "Bundle-SymbolicName",
                        "two"));
        host.plan("x", Optional.of(false), Map.of("denny", "a"))
                .plan("y", Optional.of(true), Map.of())
                .start();
        String failure = host.failure().orElseThrow();
        assertTrue(
                failure.endsWith("plugin \"y\" does not run because plugin \"x\" of the same file " + jar
                        + " does not; correct that one"),
                failure);
    }

    @Test
    void aSlowOneIsNamedAgainAndAgainAndWaitedFor() throws Exception {
        host.jar("plugins/x.jar", "x", Waiting.class, Map.of());
        host.plan("x", REQUIRED, Map.of("file", release.toString()));
        plugins = host.slowAfter(100).start();
        host.await(
                () -> host.log.stream()
                                .filter(line ->
                                        line.matches("WARN plugin_slow: plugin x is not active after \\d+ seconds,"
                                                + " the worker waits for it"))
                                .count()
                        >= 3,
                () -> "not in " + host.log);
        assertFalse(plugins.ready().toCompletableFuture().isDone());
        Files.createFile(release);
        assertEquals(Optional.empty(), host.failure());
    }

    @Test
    void anActivatorThatBlocksIsAbandonedAndNamedWhereItIsOptional() throws Exception {
        System.clearProperty(BlockingActivator.class.getName());
        Path jar = host.jar("plugins/x.jar", "x", BlockingActivator.class, activatedBy(BlockingActivator.class));
        host.jar("plugins/good.jar", "good", Appending.class, Map.of());
        host.plan("x", BY_KIND, Map.of())
                .plan("good", BY_KIND, Map.of("file", folder.resolve("f").toString()));
        host.slowAfter(5_000);
        start();
        assertEquals(1, plugins.snapshot().eventSinks().size());
        host.awaitLog("ERROR plugin_quarantined: plugins.toml:1:1: plugin \"x\" (" + jar + ") is not active after ");
        String line = host.log.stream()
                .filter(one -> one.contains("plugin_quarantined"))
                .findFirst()
                .orElseThrow();
        assertTrue(line.endsWith(" s and is abandoned; correct the plugin or remove the component"), line);
        System.setProperty(BlockingActivator.class.getName(), "over");
    }

    /** Finds a value that it cannot use. */
    public static final class Refusing implements EventSubscriber {
        public Refusing(Map<String, Object> properties) {
            throw new PluginConfigException("bad.0.key", "is bad, write something else");
        }

        @Override
        public void onEvent(Event event) {}
    }

    /** Starts when a file is there. */
    public static final class Waiting implements EventSubscriber {
        public Waiting(Map<String, Object> properties) {
            Path file = Path.of(PluginConfig.of(properties).string("file"));
            while (!Files.exists(file)) {
                LockSupport.parkNanos(10_000_000);
            }
        }

        @Override
        public void onEvent(Event event) {}
    }

    /** Its activator heeds no interrupt, and ends with the test. */
    public static final class BlockingActivator implements EventSubscriber, BundleActivator {
        public BlockingActivator() {}

        public BlockingActivator(Map<String, Object> properties) {}

        @Override
        public void start(BundleContext context) {
            while (System.getProperty(BlockingActivator.class.getName()) == null) {
                LockSupport.parkNanos(10_000_000);
                Thread.interrupted();
            }
        }

        @Override
        public void stop(BundleContext context) {}

        @Override
        public void onEvent(Event event) {}
    }

    /** Fails in activation. */
    public static final class Throwing implements EventSubscriber {
        public Throwing(Map<String, Object> properties) {
            throw new IllegalStateException("on purpose");
        }

        @Override
        public void onEvent(Event event) {}
    }

    /** Says more than a line. */
    public static final class Loud implements EventSubscriber {
        public Loud(Map<String, Object> properties) {
            throw new IllegalStateException("one\u001b[2Jtwo " + "x".repeat(1_000_000));
        }

        @Override
        public void onEvent(Event event) {}
    }

    /** Its activator throws the plugin itself. */
    abstract static class Thrown extends RuntimeException implements EventSubscriber, BundleActivator {
        private static final long serialVersionUID = 1L;

        Thrown(String message) {
            super(message);
        }

        @Override
        public void start(BundleContext context) {
            throw this;
        }

        @Override
        public void stop(BundleContext context) {}

        @Override
        public void onEvent(Event event) {}
    }

    /** Throws what is its own cause's cause. */
    public static final class Cyclic extends Thrown {
        private static final long serialVersionUID = 1L;

        public Cyclic() {
            super("one");
            initCause(new IllegalStateException("two", this));
        }
    }

    /** Throws what takes long to read. */
    public static final class Endless extends Thrown {
        private static final long serialVersionUID = 1L;

        public Endless() {
            super("x".repeat(300_000));
        }
    }

    /** Throws what cannot be told. */
    public static final class Mute extends Thrown {
        private static final long serialVersionUID = 1L;

        public Mute() {
            super("mute");
        }

        @Override
        public String toString() {
            throw new IllegalStateException("mute");
        }
    }

    /** Throws what takes for ever to tell. */
    public static final class Stuck extends Thrown {
        private static final long serialVersionUID = 1L;

        public Stuck() {
            super("stuck");
        }

        @Override
        public String toString() {
            while (true) {
                LockSupport.parkNanos(1_000_000_000);
            }
        }
    }
}
