package org.nemorelay.it.carriers;

import java.io.File;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;
import org.nemorelay.testkit.Recorder;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;
import org.osgi.framework.wiring.BundleWiring;
import org.osgi.framework.wiring.FrameworkWiring;

/** A framework with the facades and the local carrier from the class path; other carriers are installed as bundle files. */
final class Host {
    /** Shared with this class, so from the class path. */
    private static final List<String> SHARED = List.of(
            "org.nemorelay.carriers",
            "org.nemorelay.files",
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

    private final Framework framework;
    private final BundleContext context;

    Host(Path folder, Recorder recorder) throws Exception {
        framework = ServiceLoader.load(FrameworkFactory.class)
                .findFirst()
                .orElseThrow()
                .newFramework(Map.of(
                        Constants.FRAMEWORK_STORAGE,
                        folder.resolve("felix").toString(),
                        Constants.FRAMEWORK_SYSTEMPACKAGES_EXTRA,
                        SHARED.stream().map(name -> name + ";version=1.0.0").collect(Collectors.joining(","))));
        framework.start();
        context = framework.getBundleContext();
        context.registerService(EventLog.class, recorder, null);
        context.registerService(ProcessControl.class, recorder, null);
        List<Bundle> bundles = new ArrayList<>();
        for (String name : BUNDLES) {
            bundles.add(context.installBundle("reference:file:" + onClassPath(name)));
        }
        for (Bundle bundle : bundles) {
            bundle.start();
        }
    }

    Bundle install(Path jar) throws Exception {
        Bundle bundle = context.installBundle("file:" + jar);
        bundle.start();
        return bundle;
    }

    <T> T service(Class<T> type) {
        ServiceReference<T> reference = context.getServiceReference(type);
        return context.getService(reference);
    }

    void stop() throws Exception {
        framework.stop();
        framework.waitForStop(20_000);
    }

    private static String onClassPath(String name) {
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Path.of(entry);
            String file = path.getFileName().toString();
            boolean jar =
                    file.startsWith(name + "-") || file.startsWith("org.nemorelay." + name.replace('-', '.') + "-");
            boolean module = entry.contains("/bundles/".replace('/', File.separatorChar) + name + File.separator
                            + "target" + File.separator)
                    && !entry.endsWith("test-classes");
            if (jar || module) {
                return path.toAbsolutePath().toString();
            }
        }
        throw new IllegalStateException(name + " is not on the class path");
    }

    /** Configuration Admin is another copy of its classes than this one's, so it is called by name. */
    void configure(String method, String pid, String name, Map<String, Object> properties) throws Exception {
        ServiceReference<?> reference =
                context.getAllServiceReferences("org.osgi.service.cm.ConfigurationAdmin", null)[0];
        Object admin = context.getService(reference);
        Class<?> type = reference.getBundle().loadClass("org.osgi.service.cm.ConfigurationAdmin");
        Object configuration = name.isEmpty()
                ? type.getMethod(method, String.class, String.class).invoke(admin, pid, "?")
                : type.getMethod(method, String.class, String.class, String.class)
                        .invoke(admin, pid, name, "?");
        Dictionary<String, Object> dictionary = new Hashtable<>(properties);
        reference
                .getBundle()
                .loadClass("org.osgi.service.cm.Configuration")
                .getMethod("update", Dictionary.class)
                .invoke(configuration, dictionary);
    }

    /** What the bundle's classes of now hang on. */
    static WeakReference<ClassLoader> loader(Bundle bundle) {
        return new WeakReference<>(bundle.adapt(BundleWiring.class).getClassLoader());
    }

    /** Lets go of what the bundle was. */
    void refresh(Bundle bundle) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        framework.adapt(FrameworkWiring.class).refreshBundles(List.of(bundle), event -> done.countDown());
        done.await();
    }
}
