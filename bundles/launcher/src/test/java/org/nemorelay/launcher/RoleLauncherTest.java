package org.nemorelay.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;

class RoleLauncherTest {
    /** Activators are made by the framework, so what they saw is kept here. */
    private static final List<String> SEEN = new CopyOnWriteArrayList<>();

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final MemoryLog log = new MemoryLog();

    @TempDir
    Path home;

    @BeforeEach
    void forget() {
        SEEN.clear();
    }

    @Test
    void startsInFeatureOrderStopsInReverseAndReturnsTheStatusOfTheRole() throws Exception {
        TestBundles bundles = new TestBundles(home)
                .add("first", Map.of("Bundle-Activator", Recorder.class.getName()))
                .add("second", Map.of("Bundle-Activator", Recorder.class.getName()))
                .add("last", Map.of("Bundle-Activator", Exits.class.getName()));
        assertEquals(3, RoleLauncher.run(bundles.feature(), log, bundles.classPath(), LIMIT));
        assertEquals(
                List.of("start test.first", "start test.second", "role test", "stop test.second", "stop test.first"),
                SEEN);
        assertEquals(List.of(), log.lines);
    }

    @Test
    void bundlesOfStartLevelOneOutliveThoseOfTheRole() throws Exception {
        TestBundles bundles = new TestBundles(home)
                .add("first", Map.of("Bundle-Activator", Recorder.class.getName()))
                .add("host", Map.of("Bundle-Activator", Hosts.class.getName()));
        LaunchOptions options = bundles.feature();
        bundles.add("plugin", Map.of("Bundle-Activator", Recorder.class.getName()));
        assertEquals(0, RoleLauncher.run(options, log, bundles.classPath(), LIMIT));
        assertEquals(
                List.of("start test.first", "start test.plugin", "stop host", "stop test.first", "stop test.plugin"),
                SEEN);
    }

    @Test
    void roleThatDoesNotComeUpHasFailed() throws Exception {
        TestBundles bundles = new TestBundles(home).add("only", Map.of());
        LaunchOptions options = bundles.feature();
        RelayException failure = assertThrows(
                RelayException.class, () -> RoleLauncher.run(options, log, bundles.classPath(), Duration.ofMillis(1)));
        assertEquals("the role test is not up after 0 s: there is no component runtime", failure.getMessage());
    }

    @Test
    void failureOfTheRoleIsThrown() throws Exception {
        TestBundles bundles = new TestBundles(home).add("only", Map.of("Bundle-Activator", Fails.class.getName()));
        String failure = failure(bundles.feature(), log, bundles.classPath());
        assertEquals("port 1 is taken", failure);
    }

    /** Report B43: what hangs in a start must not keep the process when the start has failed. */
    @Test
    @Timeout(60)
    void aStartThatFailedDoesNotWaitForWhatDoesNotStop() throws Exception {
        TestBundles bundles = new TestBundles(home)
                .add("stubborn", Map.of("Bundle-Activator", Stubborn.class.getName()))
                .add("fails", Map.of("Bundle-Activator", Fails.class.getName()));
        assertEquals("port 1 is taken", failure(bundles.feature(), log, bundles.classPath()));
        Stubborn.LET_GO.countDown();
    }

    @Test
    @Tag("long")
    @Timeout(90)
    void aRoleThatHasEndedDoesNotWaitForWhatDoesNotStop() throws Exception {
        TestBundles bundles = new TestBundles(home).add("ends", Map.of("Bundle-Activator", Ends.class.getName()));
        assertEquals(0, RoleLauncher.run(bundles.feature(), log, bundles.classPath(), LIMIT));
        Ends.LET_GO.countDown();
    }

    @Test
    void activatorThatThrowsNamesItsBundle() throws Exception {
        TestBundles bundles = new TestBundles(home).add("bad", Map.of("Bundle-Activator", Throws.class.getName()));
        String failure = failure(bundles.feature(), log, bundles.classPath());
        assertEquals("bundle test.bad does not start: java.lang.IllegalArgumentException: no such thing", failure);
    }

    @Test
    void missingRequirementIsNamedOnceAtItsRoot() throws Exception {
        TestBundles bundles = new TestBundles(home)
                .add("good", Map.of("Bundle-Activator", Recorder.class.getName()))
                .add("lacking", Map.of("Import-Package", "com.example.absent;version=\"[2,3)\"", "Export-Package", "a"))
                .add("waiting", Map.of("Import-Package", "a"));
        String failure = failure(bundles.feature(), log, bundles.classPath());
        assertTrue(failure.contains("bundle test.lacking requires osgi.wiring.package"), failure);
        assertTrue(failure.contains("com.example.absent"), failure);
        assertTrue(!failure.contains("test.waiting"), failure);
        assertEquals(List.of(), SEEN, "nothing starts when something does not resolve");
    }

    @Test
    void bundleThatIsNotOnTheClassPathIsNamed() throws Exception {
        TestBundles bundles = new TestBundles(home).add("here", Map.of());
        LaunchOptions options = bundles.feature();
        String failure = failure(options, log, "");
        assertEquals("bundle test:here:1 is not on the class path: there is no here-1.jar, install again", failure);
    }

    @Test
    void missingAndMalformedFeatureFilesAreNamed() throws Exception {
        LaunchOptions options = new LaunchOptions("absent", home, Map.of(), Map.of());
        String missing = failure(options, log, "");
        Path file = home.resolve("features/absent.json");
        assertTrue(missing.contains(file + " is missing"), missing);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "{\"feature-resource-version\":\"1.0\",\"id\":\"a:b:1\",\"bundles\":[{\"id\":\"x\"}]}");
        String failure = failure(options, log, "");
        assertTrue(failure.contains(file + ": \"x\" is not group:artifact:version"), failure);
    }

    private static String failure(LaunchOptions options, EventLog log, String classPath) {
        return assertThrows(RelayException.class, () -> RoleLauncher.run(options, log, classPath, LIMIT))
                .getMessage();
    }

    public static class Recorder implements BundleActivator {
        @Override
        public void start(BundleContext context) {
            SEEN.add("start " + context.getBundle().getSymbolicName());
        }

        @Override
        public void stop(BundleContext context) {
            SEEN.add("stop " + context.getBundle().getSymbolicName());
        }
    }

    public static class Hosts implements BundleActivator {
        @Override
        public void start(BundleContext context) throws BundleException {
            Bundle plugin = context.installBundle("classpath:plugin-1.jar");
            plugin.start();
            service(context, ProcessControl.class).exit(0);
        }

        @Override
        public void stop(BundleContext context) {
            SEEN.add("stop host");
        }
    }

    public static class Exits implements BundleActivator {
        @Override
        public void start(BundleContext context) {
            SEEN.add("role " + service(context, LaunchOptions.class).role());
            service(context, EventLog.class).flush();
            service(context, ProcessControl.class).exit(3);
        }

        @Override
        public void stop(BundleContext context) {}
    }

    public static class Fails implements BundleActivator {
        @Override
        public void start(BundleContext context) {
            service(context, ProcessControl.class)
                    .fail(new RelayException(FailureKind.CONFIGURATION, "port 1 is taken"));
        }

        @Override
        public void stop(BundleContext context) {}
    }

    public static class Stubborn implements BundleActivator {
        private static final CountDownLatch LET_GO = new CountDownLatch(1);

        @Override
        public void start(BundleContext context) {}

        @Override
        public void stop(BundleContext context) throws InterruptedException {
            LET_GO.await();
        }
    }

    /** Says that it is up and then that it has ended, and does not stop. */
    public static class Ends implements BundleActivator {
        private static final CountDownLatch LET_GO = new CountDownLatch(1);

        @Override
        public void start(BundleContext context) {
            ProcessControl process = service(context, ProcessControl.class);
            process.ready();
            process.exit(0);
        }

        @Override
        public void stop(BundleContext context) throws InterruptedException {
            LET_GO.await();
        }
    }

    public static class Throws implements BundleActivator {
        @Override
        public void start(BundleContext context) {
            throw new IllegalArgumentException("no such thing");
        }

        @Override
        public void stop(BundleContext context) {}
    }

    private static <T> T service(BundleContext context, Class<T> type) {
        return context.getService(context.getServiceReference(type));
    }
}
