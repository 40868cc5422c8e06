package org.nemorelay.pluginhost.internal;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.apache.felix.framework.FrameworkFactory;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.config.PluginPlan.Component;
import org.nemorelay.config.PluginPlan.Position;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.protocol.RelayException;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkEvent;
import org.osgi.framework.SynchronousBundleListener;
import org.osgi.framework.launch.Framework;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.component.runtime.ServiceComponentRuntime;

/** A plugin host in a real framework with Declarative Services and Configuration Admin, over folders of made-up plugins. */
final class HostUnderTest {
    private static final String SHARED =
            "org.osgi.service.component;version=1.5,org.osgi.service.component.runtime;version=1.5,"
                    + "org.osgi.service.component.runtime.dto;version=1.5,org.osgi.service.cm;version=1.6,"
                    + "org.osgi.util.promise;version=1.3,org.osgi.util.function;version=1.2,"
                    + "org.nemorelay.plugin.api;version=1.0,org.nemorelay.json;version=1.0";

    final Path home;
    private final MemoryLog events = new MemoryLog();
    final List<String> log = events.lines;
    private final List<Component> components = new ArrayList<>();
    private final Map<String, Map<String, Object>> configured = new HashMap<>();
    private Optional<String> pin = Optional.empty();
    private final Framework framework;
    private final ConfigurationAdmin configurations;
    private PluginHostComponent host;
    private Deployment.Limits limits = new Deployment.Limits(3_000, 2_000, 500, 60_000, 100);

    HostUnderTest(Path folder) throws Exception {
        home = Files.createDirectories(folder.resolve("an installed tree"));
        Files.createDirectories(home.resolve("plugins"));
        Files.createDirectories(home.resolve("etc/plugins"));
        framework = new FrameworkFactory()
                .newFramework(Map.of(
                        Constants.FRAMEWORK_STORAGE,
                        folder.resolve("storage").toString(),
                        Constants.FRAMEWORK_SYSTEMPACKAGES_EXTRA,
                        SHARED,
                        Constants.FRAMEWORK_BSNVERSION,
                        Constants.FRAMEWORK_BSNVERSION_MULTIPLE,
                        "felix.cm.pm",
                        "memory",
                        "felix.log.level",
                        "0"));
        framework.start();
        BundleContext context = framework.getBundleContext();
        for (String type :
                List.of("org.apache.felix.cm.impl.ConfigurationManager", "org.apache.felix.scr.impl.Activator")) {
            context.installBundle(jarOf(type)).start();
        }
        configurations = context.getService(context.getServiceReference(ConfigurationAdmin.class));
    }

    /** A plugin that a start waits for is named as often. */
    HostUnderTest slowAfter(long millis) {
        limits = limits(limits.changeMillis(), limits.stopMillis(), millis);
        return this;
    }

    /** A plugin may take so long to start while requests run. */
    HostUnderTest changeWithin(long millis) {
        limits = limits(millis, limits.stopMillis(), limits.slowMillis());
        return this;
    }

    /** A plugin may take so long to stop. */
    HostUnderTest stopWithin(long millis) {
        limits = limits(limits.changeMillis(), millis, limits.slowMillis());
        return this;
    }

    private Deployment.Limits limits(long change, long stop, long slow) {
        return new Deployment.Limits(change, stop, limits.closeMillis(), slow, limits.settledMillis());
    }

    /** Starts the host over what was added and planned so far. */
    PluginHostComponent start() {
        BundleContext context = framework.getBundleContext();
        ServiceComponentRuntime runtime =
                context.getService(context.getServiceReference(ServiceComponentRuntime.class));
        host = new PluginHostComponent(
                context,
                new LaunchOptions("worker", home, Map.of(), Map.of()),
                runtime,
                configurations,
                events,
                limits);
        host.setPlan(plan(), Map.of());
        host.open();
        return host;
    }

    /** What ready() ends with: a line, or empty when all is well. */
    Optional<String> failure() {
        try {
            host.ready().toCompletableFuture().orTimeout(30, TimeUnit.SECONDS).join();
            return Optional.empty();
        } catch (CompletionException e) {
            return Optional.of(((RelayException) e.getCause()).getMessage());
        }
    }

    /** Plans a component, as the reader of plugins.toml does. */
    HostUnderTest plan(String kind, Optional<Boolean> required, Map<String, Object> config) {
        int line = components.size() * 10 + 1;
        components.add(new Component(kind, required, pin, new Position("plugins.toml", line, 1)));
        configured.put(kind, config);
        return this;
    }

    /** The digest that components planned from now on ask for. */
    HostUnderTest pin(String sha256) {
        pin = Optional.of(sha256);
        return this;
    }

    /** Forgets what was planned. */
    HostUnderTest noPlan() {
        components.clear();
        configured.clear();
        return this;
    }

    /** Gives the running host what is planned by now. */
    void replan() {
        host.setPlan(plan(), Map.of());
    }

    /** What the running host is told when a changed file is not taken. */
    void reject(String file, String reason) {
        host.updatedPlan(plan(), Map.of(PluginPlan.REJECTED, reason, PluginPlan.REJECTED_FILE, file));
    }

    /** The same when the file is as it was again. */
    void unreject() {
        host.updatedPlan(plan(), Map.of());
    }

    private PluginPlan plan() {
        return new Planned(List.copyOf(components), Map.copyOf(configured));
    }

    BundleContext context() {
        return framework.getBundleContext();
    }

    /** Waits until a line of the log begins like this. */
    void awaitLog(String start) throws InterruptedException {
        await(() -> log.stream().anyMatch(line -> line.startsWith(start)), () -> start + " not in " + log);
    }

    void await(BooleanSupplier condition, Supplier<String> complaint) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError(complaint.get());
            }
            Thread.sleep(10);
        }
    }

    /** A plugin jar in a folder under the tree, its component the given class. */
    Path jar(String path, String kind, Class<?> component, Map<String, String> headers) throws IOException {
        return jar(path, Map.of(kind, component), headers);
    }

    /** A plugin jar in a folder under the tree, with a component of a class for each kind. */
    Path jar(String path, Map<String, Class<?>> componentByKind, Map<String, String> headers) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.putValue("Bundle-ManifestVersion", "2");
        attributes.putValue("Bundle-SymbolicName", path.replaceAll("[^a-z]+", "."));
        attributes.putValue("Bundle-Version", "1.2.3");
        attributes.putValue("Import-Package", "org.nemorelay.plugin.api;version=\"[1.0,2)\"");
        attributes.putValue(
                "Provide-Capability",
                componentByKind.keySet().stream()
                        .map(kind -> "org.nemorelay.plugin;kind=" + kind + ";observer=true")
                        .collect(Collectors.joining(",")));
        attributes.putValue(
                "Service-Component",
                componentByKind.keySet().stream()
                        .map(kind -> "OSGI-INF/" + kind + ".xml")
                        .collect(Collectors.joining(",")));
        headers.forEach(attributes::putValue);
        Path file = home.resolve(path);
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file), manifest)) {
            for (Map.Entry<String, Class<?>> entry : componentByKind.entrySet()) {
                String kind = entry.getKey();
                Class<?> component = entry.getValue();
                Class<?> service = lineage(component)
                        .flatMap(each -> Arrays.stream(each.getInterfaces()))
                        .filter(each -> each.getPackage() == HookPolicy.class.getPackage())
                        .findFirst()
                        .orElseThrow();
                String xml =
                        "<scr:component xmlns:scr=\"http://www.osgi.org/xmlns/scr/v1.4.0\" name=\"" + path + "." + kind
                                + "\" configuration-policy=\"require\" configuration-pid=\"" + kind + "\" init=\"1\""
                                + (AutoCloseable.class.isAssignableFrom(component) ? " deactivate=\"close\">" : ">")
                                + "<service><provide interface=\"" + service.getName() + "\"/></service>"
                                + "<implementation class=\"" + component.getName() + "\"/></scr:component>";
                add(jar, "OSGI-INF/" + kind + ".xml", xml.getBytes(StandardCharsets.UTF_8));
            }
            for (Class<?> component : componentByKind.values().stream()
                    .flatMap(HostUnderTest::lineage)
                    .collect(Collectors.toSet())) {
                String name = component.getName().replace('.', '/') + ".class";
                try (InputStream code = component.getClassLoader().getResourceAsStream(name)) {
                    add(jar, name, code.readAllBytes());
                }
            }
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        return file;
    }

    /** The class and what it extends of the test's own. */
    private static Stream<Class<?>> lineage(Class<?> component) {
        return Stream.iterate(
                component, one -> one.getPackage() == HostUnderTest.class.getPackage(), Class::getSuperclass);
    }

    /** Stops the host and its plugins. */
    void stopHost() throws InterruptedException {
        host.close();
        host = null;
    }

    /** Has the framework stop, in which the host ends as in a worker; returns whether it has stopped in this time. */
    boolean stopFramework(long millis) throws InterruptedException, BundleException {
        context().addBundleListener((SynchronousBundleListener) event -> {
            if (event.getBundle() == framework && event.getType() == BundleEvent.STOPPING) {
                try {
                    stopHost();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        });
        framework.stop();
        return framework.waitForStop(millis).getType() == FrameworkEvent.STOPPED;
    }

    void close() throws InterruptedException, BundleException {
        if (host != null) {
            host.close();
        }
        framework.stop();
        framework.waitForStop(30_000);
    }

    private static void add(JarOutputStream jar, String name, byte[] content) throws IOException {
        jar.putNextEntry(new ZipEntry(name));
        jar.write(content);
        jar.closeEntry();
    }

    private static String jarOf(String type) throws ClassNotFoundException, URISyntaxException {
        ClassLoader loader = HostUnderTest.class.getClassLoader();
        return Class.forName(type, false, loader)
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI()
                .toString();
    }

    private record Planned(List<Component> components, Map<String, Map<String, Object>> configured)
            implements PluginPlan {
        @Override
        public Map<String, Object> configuration(String kind) {
            return configured.getOrDefault(kind, Map.of());
        }

        @Override
        public Optional<Position> position(String kind, String key) {
            return components.stream()
                    .filter(component -> component.kind().equals(kind))
                    .map(component -> new Position(
                            component.position().file(), component.position().line() + key.length(), 2))
                    .findFirst();
        }
    }
}
