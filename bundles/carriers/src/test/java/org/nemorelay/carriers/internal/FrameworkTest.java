package org.nemorelay.carriers.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.felix.framework.FrameworkFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.carriers.Carriers;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.NoCarrierException;
import org.nemorelay.seams.control.ControlServers;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.Recorder;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.launch.Framework;

/** The components in a real framework: the facades are there whatever carriers come and go. */
class FrameworkTest {
    /** Shared with the test, so from the class path. */
    private static final String SHARED = String.join(
            ",",
            "org.nemorelay.carriers",
            "org.nemorelay.json",
            "org.nemorelay.protocol",
            "org.nemorelay.telemetry",
            "org.nemorelay.workerctl",
            "org.nemorelay.seams",
            "org.nemorelay.seams.carrier",
            "org.nemorelay.seams.control",
            "org.nemorelay.seams.dial",
            "org.nemorelay.seams.staging");

    private static final List<String> BUNDLES = List.of(
            "org.osgi.util.function",
            "org.osgi.util.promise",
            "org.osgi.service.component",
            "org.apache.felix.configadmin",
            "org.apache.felix.scr",
            "carriers",
            "carrier-local");

    @TempDir
    Path storage;

    private Framework framework;
    private BundleContext context;
    private Bundle carrier;

    @BeforeEach
    void start() throws Exception {
        framework = new FrameworkFactory()
                .newFramework(Map.of(
                        Constants.FRAMEWORK_STORAGE,
                        storage.toString(),
                        Constants.FRAMEWORK_SYSTEMPACKAGES_EXTRA,
                        SHARED.replace(",", ";version=1.0.0,") + ";version=1.0.0"));
        framework.start();
        context = framework.getBundleContext();
        Recorder recorder = new Recorder();
        context.registerService(EventLog.class, recorder, null);
        context.registerService(ProcessControl.class, recorder, null);
        List<Bundle> bundles = new ArrayList<>();
        for (String name : BUNDLES) {
            bundles.add(context.installBundle("reference:file:" + onClassPath(name)));
        }
        for (Bundle bundle : bundles) {
            bundle.start();
        }
        carrier = bundles.getLast();
    }

    /** A module of this build is a folder or a jar, by the phase. */
    private static String onClassPath(String name) {
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Path.of(entry);
            boolean jar = path.getFileName().toString().startsWith(name + "-");
            boolean module = entry.contains(File.separator + name + File.separator + "target" + File.separator)
                    && !entry.endsWith("test-classes");
            if (jar || module) {
                return path.toAbsolutePath().toString();
            }
        }
        throw new IllegalStateException(name + " is not on the class path");
    }

    @AfterEach
    void stop() throws Exception {
        framework.stop();
        framework.waitForStop(10_000);
    }

    private <T> T service(Class<T> type) {
        ServiceReference<T> reference = context.getServiceReference(type);
        return context.getService(reference);
    }

    private void awaitCurrent(Optional<String> name) {
        Carriers carriers = service(Carriers.class);
        Await.until("current is " + name, () -> carriers.status().current().equals(name));
    }

    /** Configuration Admin is another copy of its classes than the test's, so it is called by name. */
    private void configure(Function<Class<?>, Object[]> pidAndMethod, Map<String, Object> properties) throws Exception {
        ServiceReference<?> reference =
                context.getAllServiceReferences("org.osgi.service.cm.ConfigurationAdmin", null)[0];
        Object admin = context.getService(reference);
        Class<?> type = reference.getBundle().loadClass("org.osgi.service.cm.ConfigurationAdmin");
        Object[] call = pidAndMethod.apply(type);
        Object configuration = call.length == 2
                ? type.getMethod((String) call[0], String.class, String.class).invoke(admin, call[1], "?")
                : type.getMethod((String) call[0], String.class, String.class, String.class)
                        .invoke(admin, call[1], call[2], "?");
        Dictionary<String, Object> dictionary = new Hashtable<>(properties);
        reference
                .getBundle()
                .loadClass("org.osgi.service.cm.Configuration")
                .getMethod("update", Dictionary.class)
                .invoke(configuration, dictionary);
    }

    @Test
    void theCarriersBundleComesAndGoesUnderStandingSubscriptions() throws Exception {
        awaitCurrent(Optional.of("local"));
        Broadcaster broadcaster = service(Broadcaster.class);
        AtomicInteger seen = new AtomicInteger();
        broadcaster.subscribe("jobs.new", message -> seen.incrementAndGet());
        for (int round = 1; round <= 3; round++) {
            int expected = round;
            broadcaster.publish("jobs.new", new byte[0]);
            Await.until("delivered", () -> seen.get() == expected);
            carrier.stop();
            assertThrows(NoCarrierException.class, () -> broadcaster.publish("jobs.new", new byte[0]));
            assertEquals(Optional.empty(), service(Carriers.class).status().current());
            carrier.start();
            awaitCurrent(Optional.of("local"));
        }
    }

    @Test
    void configurationMakesInstancesAndChoosesAmongThem() throws Exception {
        for (String name : List.of("one", "two")) {
            configure(
                    admin -> new Object[] {"getFactoryConfiguration", "org.nemorelay.carrier.local", name},
                    Map.of("carrier", name));
        }
        configure(admin -> new Object[] {"getConfiguration", "org.nemorelay.distributed"}, Map.of("carrier", "one"));
        awaitCurrent(Optional.of("one"));
        AtomicInteger seen = new AtomicInteger();
        service(Broadcaster.class).subscribe("jobs.new", message -> seen.incrementAndGet());
        configure(admin -> new Object[] {"getConfiguration", "org.nemorelay.distributed"}, Map.of("carrier", "two"));
        awaitCurrent(Optional.of("two"));
        service(Broadcaster.class).publish("jobs.new", new byte[0]);
        Await.until("delivered on two", () -> seen.get() == 1);
        assertEquals(
                List.of("one", "two"),
                service(Carriers.class).status().present().stream()
                        .map(Carriers.Present::name)
                        .toList());
    }

    @Test
    void everyFacadeIsRegisteredUnderItsSeamAlone() {
        awaitCurrent(Optional.of("local"));
        service(ControlServers.class).controlServer("n").close();
        assertThrows(
                org.nemorelay.seams.NoRouteException.class,
                () -> service(NodeCommandSender.class).listBackends("n"));
        ServiceReference<Broadcaster> only = context.getServiceReference(Broadcaster.class);
        assertEquals("org.nemorelay.carriers", only.getBundle().getSymbolicName());
    }
}
