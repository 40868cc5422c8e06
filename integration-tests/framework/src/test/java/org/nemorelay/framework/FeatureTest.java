package org.nemorelay.framework;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.ops4j.pax.exam.CoreOptions.frameworkProperty;
import static org.ops4j.pax.exam.CoreOptions.junitBundles;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.Before;
import org.junit.Test;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Relay;
import org.nemorelay.launcher.RoleFrameworkFactory;
import org.ops4j.pax.exam.Option;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.service.component.runtime.ServiceComponentRuntime;
import org.osgi.service.component.runtime.dto.ComponentConfigurationDTO;
import org.osgi.service.component.runtime.dto.ComponentDescriptionDTO;

/** What holds for every role: its feature, booted as shipped, is whole, and each of our bundles can come and go. */
public abstract class FeatureTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private BundleContext context;
    private ServiceComponentRuntime components;

    /**
     * Boots a role of the installed tree with one plugin and a state folder of its own. A bundle that does not resolve
     * fails the start.
     */
    static Option[] role(String role, Map<String, String> flags) throws IOException {
        // A role may read its standard input, which in this process belongs to the test runner.
        System.setIn(new ByteArrayInputStream(new byte[0]));
        Path state = Files.createTempDirectory(Path.of("target"), role).toAbsolutePath();
        Path home = Distribution.privateTree(state.resolve("tree"), "", Relay.observabilityToml(state));
        List<Option> options = new ArrayList<>(List.of(
                frameworkProperty(RoleFrameworkFactory.ROLE).value(role),
                frameworkProperty(RoleFrameworkFactory.HOME).value(home.toString()),
                frameworkProperty(RoleFrameworkFactory.ENVIRONMENT_PREFIX + "HOME")
                        .value(state.toString())));
        flags.forEach((name, value) -> options.add(
                frameworkProperty(RoleFrameworkFactory.FLAG_PREFIX + name).value(value)));
        options.addAll(Arrays.asList(junitBundles()));
        return options.toArray(Option[]::new);
    }

    @Before
    public void findServices() {
        context = FrameworkUtil.getBundle(FeatureTest.class).getBundleContext();
        components = context.getService(context.getServiceReference(ServiceComponentRuntime.class));
    }

    @Test
    public void everyBundleIsActive() throws Exception {
        await("bundles that are not active", this::inactiveBundles, List.of());
    }

    private List<String> inactiveBundles() {
        List<String> others = new ArrayList<>();
        for (Bundle bundle : context.getBundles()) {
            BundleRevision revision = bundle.adapt(BundleRevision.class);
            if (!revision.getDeclaredCapabilities("org.nemorelay.plugin").isEmpty()) {
                // No plugins.toml names it: installed and idle.
                continue;
            }
            boolean fragment = (revision.getTypes() & BundleRevision.TYPE_FRAGMENT) != 0;
            if (bundle.getState() != (fragment ? Bundle.RESOLVED : Bundle.ACTIVE)) {
                others.add(bundle + " state " + bundle.getState());
            }
        }
        return others;
    }

    @Test
    public void everyComponentIsSatisfied() throws Exception {
        await("components", this::deadComponents, List.of());
    }

    @Test
    public void everyBundleOfOursTakesItsServicesAwayAndBringsThemBack() throws Exception {
        await("components", this::deadComponents, List.of());
        List<Bundle> ours = ours();
        assertFalse(ours.isEmpty());
        List<String> running = running();
        for (Bundle bundle : ours) {
            if (bundle.getState() == Bundle.UNINSTALLED) {
                // A plugin's: the plugin host came back and has installed it anew.
                continue;
            }
            // The plugin host starts plugins on a thread of its own: not while one of them is stopped here.
            await("plugins before stop of " + bundle, this::pendingPlugins, List.of());
            List<String> before = services(bundle);
            bundle.stop();
            await("services after stop of " + bundle, () -> services(bundle), List.of());
            bundle.start();
            await("services after start of " + bundle, () -> services(bundle), before);
            await("components after start of " + bundle, this::deadComponents, List.of());
            // Configurations come on a thread of their own, and what they bring to life must not lose a service
            // meanwhile.
            await("running components after start of " + bundle, this::running, running);
        }
    }

    @Test
    public void exportsAreVersionedAndNeverInternal() {
        for (Bundle bundle : ours()) {
            String exports = bundle.getHeaders().get(Constants.EXPORT_PACKAGE);
            if (exports != null) {
                assertFalse(bundle + " exports " + exports, exports.matches("(?s).*\\binternal\\b.*"));
                assertTrue(bundle + " exports " + exports, exports.contains("version="));
            }
        }
    }

    @Test
    public void theClassPathIsTheOneThatShips() throws IOException {
        TreeSet<String> shipped = new TreeSet<>();
        try (Stream<Path> jars = Files.list(Path.of(System.getProperty("nemorelay.distribution"), "lib"))) {
            jars.map(jar -> jar.getFileName().toString())
                    .filter(name -> name.endsWith(".jar"))
                    .forEach(shipped::add);
        }
        for (String element : System.getProperty("java.class.path").split(":")) {
            shipped.remove(Path.of(element).getFileName().toString());
        }
        assertEquals(new TreeSet<String>(), shipped);
    }

    private List<Bundle> ours() {
        return Stream.of(context.getBundles())
                .filter(bundle -> bundle.getSymbolicName().startsWith("org.nemorelay."))
                .toList();
    }

    private static List<String> services(Bundle bundle) {
        ServiceReference<?>[] registered = bundle.getRegisteredServices();
        if (registered == null) {
            return List.of();
        }
        return Stream.of(registered)
                .flatMap(service -> Stream.of((String[]) service.getProperty(Constants.OBJECTCLASS)))
                .sorted()
                .toList();
    }

    private List<String> pendingPlugins() throws ReflectiveOperationException {
        ServiceReference<?> reference = context.getServiceReference("org.nemorelay.pluginhost.PluginHost");
        if (reference == null) {
            return List.of();
        }
        Object host = context.getService(reference);
        CompletionStage<?> ready = (CompletionStage<?>) Class.forName(
                        "org.nemorelay.pluginhost.PluginHost",
                        true,
                        host.getClass().getClassLoader())
                .getMethod("ready")
                .invoke(host);
        return ready.toCompletableFuture().isDone() ? List.of() : List.of("the plugin host is at work");
    }

    /** Components that should run and do not. One that requires a configuration and has none is idle, not dead. */
    private List<String> deadComponents() {
        List<String> dead = new ArrayList<>();
        for (ComponentDescriptionDTO description : components.getComponentDescriptionDTOs()) {
            for (ComponentConfigurationDTO configuration : components.getComponentConfigurationDTOs(description)) {
                switch (configuration.state) {
                    case ComponentConfigurationDTO.ACTIVE, ComponentConfigurationDTO.SATISFIED -> {}
                    case ComponentConfigurationDTO.UNSATISFIED_CONFIGURATION -> {
                        if (!"require".equals(description.configurationPolicy)) {
                            dead.add(description.name + " has no configuration");
                        }
                    }
                    case ComponentConfigurationDTO.UNSATISFIED_REFERENCE ->
                        dead.add(description.name + " misses "
                                + Stream.of(configuration.unsatisfiedReferences)
                                        .map(reference -> reference.name + " " + reference.target)
                                        .toList());
                    default -> dead.add(description.name + " failed: " + configuration.failure);
                }
            }
        }
        return dead;
    }

    /** Components that run by themselves, whether or not anybody uses what they offer. */
    private List<String> running() {
        return components.getComponentDescriptionDTOs().stream()
                .filter(description -> description.immediate)
                .filter(description -> components.getComponentConfigurationDTOs(description).stream()
                        .anyMatch(configuration -> configuration.state == ComponentConfigurationDTO.ACTIVE))
                .map(description -> description.name)
                .sorted()
                .toList();
    }

    private interface Probe {
        List<String> get() throws Exception;
    }

    private static void await(String what, Probe probe, List<String> expected) throws Exception {
        Instant end = Instant.now().plus(DEADLINE);
        List<String> last = probe.get();
        while (!last.equals(expected) && Instant.now().isBefore(end)) {
            Thread.sleep(10);
            last = probe.get();
        }
        assertEquals(what, expected, last);
    }
}
