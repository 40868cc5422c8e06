package org.nemorelay.it.fleet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.felix.framework.FrameworkFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.backend.echo.EchoBackend;
import org.nemorelay.backend.echo.GrpcBackendServer;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;
import org.nemorelay.testkit.Recorder;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.wiring.FrameworkWiring;

/**
 * The gRPC carrier as a bundle file in a plain framework, with no class path to fall back on (B35): its providers are found,
 * names are resolved, also after the bundle was updated and refreshed, and nothing of it stays.
 */
class GrpcBundleTest {
    private static final String SHARED = "org.nemorelay.json,org.nemorelay.protocol,org.nemorelay.telemetry,"
            + "org.nemorelay.workerctl,org.nemorelay.seams,org.nemorelay.seams.carrier,org.nemorelay.seams.control,"
            + "org.nemorelay.seams.dial,org.nemorelay.seams.staging,org.nemorelay.files";
    private static final List<String> PLATFORM = List.of(
            "org.osgi.util.function",
            "org.osgi.util.promise",
            "org.osgi.service.component",
            "org.apache.felix.configadmin",
            "org.apache.felix.scr");

    @TempDir
    Path storage;

    private BundleContext context;

    private static Path jar(String folder, String name) throws Exception {
        try (DirectoryStream<Path> jars =
                Files.newDirectoryStream(Distribution.tree().resolve(folder), name + "-*.jar")) {
            return jars.iterator().next();
        }
    }

    @Test
    void itDialsANameAfterEachUpdateAndLeavesNothing() throws Exception {
        Framework framework = new FrameworkFactory()
                .newFramework(Map.of(
                        Constants.FRAMEWORK_STORAGE,
                        storage.toString(),
                        Constants.FRAMEWORK_SYSTEMPACKAGES_EXTRA,
                        SHARED.replace(",", ";version=1.0.0,") + ";version=1.0.0"));
        framework.start();
        context = framework.getBundleContext();
        try (GrpcBackendServer server =
                GrpcBackendServer.open(new InetSocketAddress("127.0.0.1", 0), new EchoBackend(Duration.ZERO), "")) {
            Recorder recorder = new Recorder();
            context.registerService(EventLog.class, recorder, null);
            context.registerService(ProcessControl.class, recorder, null);
            List<Bundle> bundles = new ArrayList<>();
            for (String name : PLATFORM) {
                bundles.add(
                        context.installBundle("reference:" + jar("lib", name).toUri()));
            }
            for (Bundle bundle : bundles) {
                bundle.start();
            }
            long before = threads();
            Bundle carrier = context.installBundle(
                    jar("carriers", "org.nemorelay.carrier.direct").toUri().toString());
            carrier.start();
            configure();
            health(server.port());
            for (int round = 0; round < 2; round++) {
                carrier.update();
                CountDownLatch refreshed = new CountDownLatch(1);
                framework.adapt(FrameworkWiring.class).refreshBundles(List.of(carrier), event -> refreshed.countDown());
                assertTrue(refreshed.await(30, TimeUnit.SECONDS));
                health(server.port());
            }
            carrier.uninstall();
            Await.until("the carrier's threads are gone", Fleet.LIMIT, () -> threads() <= before);
        } finally {
            framework.stop();
            framework.waitForStop(10_000);
        }
    }

    private void health(int port) {
        Await.until("the carrier dials", Fleet.LIMIT, () -> {
            ServiceReference<Carrier> reference = context.getServiceReference(Carrier.class);
            if (reference == null) {
                return false;
            }
            Carrier carrier = context.getService(reference);
            try (BackendClient client = carrier.backendClients().newClient("n", "localhost:" + port, true)) {
                byte[] reply =
                        client.call(Context.background().withTimeout(Duration.ofSeconds(20)), "Health", new byte[0]);
                assertArrayEquals(new byte[] {10, 2, 'O', 'K'}, reply);
            }
            assertEquals("direct", reference.getProperty("carrier"));
            return true;
        });
    }

    /** Threads of gRPC's transport; the server of this test has one of its own from the class path. */
    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("EventLoopGroup")
                        || thread.getName().startsWith("grpc-"))
                .count();
    }

    /** Configuration Admin is another copy of its classes than the test's, so it is called by name. */
    private void configure() throws Exception {
        ServiceReference<?> reference =
                context.getAllServiceReferences("org.osgi.service.cm.ConfigurationAdmin", null)[0];
        Object configuration = reference
                .getBundle()
                .loadClass("org.osgi.service.cm.ConfigurationAdmin")
                .getMethod("getFactoryConfiguration", String.class, String.class, String.class)
                .invoke(context.getService(reference), "org.nemorelay.carrier.direct", "direct", "?");
        Dictionary<String, Object> properties = new Hashtable<>(Map.of("carrier", "direct"));
        reference
                .getBundle()
                .loadClass("org.osgi.service.cm.Configuration")
                .getMethod("update", Dictionary.class)
                .invoke(configuration, properties);
    }
}
