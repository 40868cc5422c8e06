package org.nemorelay.launcher.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.felix.framework.Felix;
import org.apache.felix.framework.util.FelixConstants;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.launcher.internal.Feature.MavenId;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.startlevel.FrameworkStartLevel;
import org.osgi.framework.wiring.BundleRequirement;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.service.component.runtime.ServiceComponentRuntime;
import org.osgi.service.component.runtime.dto.ComponentConfigurationDTO;
import org.osgi.service.component.runtime.dto.ComponentDescriptionDTO;
import org.osgi.service.component.runtime.dto.UnsatisfiedReferenceDTO;
import org.osgi.service.log.LoggerFactory;

/**
 * The launch arrangement of a role, the same in the shipped process and in tests: which bundles, from where, in which
 * order, and what the framework adds to them.
 */
public final class RoleFramework {
    /**
     * JDK packages that Jetty imports for leak preventers and SPNEGO, which nobody uses here; the shipped runtime leaves
     * out the modules that hold them.
     */
    private static final String ABSENT_PACKAGES = "java.awt,java.sql,javax.imageio,org.ietf.jgss";

    private static final String ROLE_START_LEVEL = "2";

    /**
     * Of what is installed after the role's bundles, carriers and plugins: on a stop the role ends first, and they take what it
     * sends until then. They have it from the start: a bundle whose level is changed may be started by the framework's own
     * thread, and one that hangs there hangs every stop.
     */
    private static final int LATER_START_LEVEL = 1;

    /** Logging stays outside the framework, so that it works before and after it and one stack serves both sides. */
    private static final String SYSTEM_PACKAGES =
            "org.slf4j;version=2.0,org.slf4j.spi;version=2.0,org.slf4j.event;version=2.0,org.slf4j.helpers;version=2.0,"
                    + "org.osgi.service.log;version=1.5";

    /** Class-path bundles share one class loader, in which ServiceLoader needs no mediator: the framework stands in for it. */
    private static final String SYSTEM_CAPABILITIES =
            "osgi.extender;osgi.extender=\"osgi.serviceloader.registrar\";version:Version=\"1.0\","
                    + "osgi.extender;osgi.extender=\"osgi.serviceloader.processor\";version:Version=\"1.0\"";

    private final LaunchOptions options;
    private final EventLog log;
    private final ProcessControl control;
    private final Predicate<RelayException> startFails;
    private final ClassPathBundles classPath;
    private final Feature feature;
    private final Felix framework;
    private final List<Bundle> bundles = new ArrayList<>();

    /**
     * Reads the role's feature file and makes a framework that is not yet initialized.
     *
     * @param startFails takes why one of the role's own components cannot start; false once the role is up
     * @param extra further framework properties; those of the arrangement win, packages add up
     */
    public RoleFramework(
            LaunchOptions options,
            EventLog log,
            ProcessControl control,
            Predicate<RelayException> startFails,
            String classPath,
            Path storage,
            Map<String, String> extra) {
        this.options = options;
        this.log = log;
        this.control = control;
        this.startFails = startFails;
        this.classPath = new ClassPathBundles(classPath);
        this.feature = feature(options);

        Map<String, Object> configuration = new HashMap<>(extra);
        configuration.put(Constants.FRAMEWORK_STORAGE, storage.toString());
        configuration.put(Constants.FRAMEWORK_STORAGE_CLEAN, Constants.FRAMEWORK_STORAGE_CLEAN_ONFIRSTINIT);
        configuration.merge(
                Constants.FRAMEWORK_SYSTEMPACKAGES_EXTRA,
                SYSTEM_PACKAGES + "," + ABSENT_PACKAGES,
                (given, own) -> own + "," + given);
        configuration.put(Constants.FRAMEWORK_SYSTEMCAPABILITIES_EXTRA, SYSTEM_CAPABILITIES);
        // An updated plugin starts beside the one that it replaces.
        configuration.put(Constants.FRAMEWORK_BSNVERSION, Constants.FRAMEWORK_BSNVERSION_MULTIPLE);
        configuration.put(FelixConstants.BUNDLE_STARTLEVEL_PROP, ROLE_START_LEVEL);
        configuration.put(Constants.FRAMEWORK_BEGINNING_STARTLEVEL, ROLE_START_LEVEL);
        // Configurations hold credentials: they stay in memory.
        configuration.put("felix.cm.pm", "memory");
        configuration.put(FelixConstants.LOG_LOGGER_PROP, new FelixLog(log));
        this.framework = new Felix(configuration, this.classPath);
    }

    /** Plugins are looked at among the bundles of a worker, in which nothing serves. */
    private static Feature feature(LaunchOptions options) {
        Path features = options.home().resolve("features");
        return options.role().equals("plugins")
                ? Feature.read(features.resolve("worker.json")).without("org.nemorelay.worker")
                : Feature.read(features.resolve(options.role() + ".json"));
    }

    public Framework framework() {
        return framework;
    }

    /** Initializes the framework, registers the launcher's services and installs the feature's bundles. */
    public void install() throws BundleException {
        framework.init();
        BundleContext context = framework.getBundleContext();
        context.registerService(LaunchOptions.class, options, null);
        context.registerService(EventLog.class, log, null);
        context.registerService(LoggerFactory.class, new ComponentLog(log, startFails), null);
        context.registerService(ProcessControl.class, control, null);
        for (MavenId id : feature.bundles()) {
            bundles.add(context.installBundle(classPath.location(id)));
        }
        framework.adapt(FrameworkStartLevel.class).setInitialBundleStartLevel(LATER_START_LEVEL);
        for (String carrier : feature.carriers()) {
            installCarrier(context, carrier);
        }
        List<String> unresolved = unresolved();
        if (!unresolved.isEmpty()) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    "feature " + feature.id() + " does not resolve: " + String.join("; ", unresolved));
        }
    }

    /** Bundles in files with class loaders of their own. */
    private void installCarrier(BundleContext context, String carrier) throws BundleException {
        Feature files = Feature.read(options.home().resolve("features").resolve(carrier + ".json"));
        for (MavenId id : files.bundles()) {
            Path file = options.home().resolve("carriers").resolve(id.fileName());
            if (!Files.isReadable(file)) {
                throw new RelayException(
                        FailureKind.CONFIGURATION,
                        "bundle " + id + " of feature " + carrier + " is missing: there is no " + file
                                + ", install again");
            }
            bundles.add(install(context, file));
        }
    }

    /** A copy: who replaces the file may write into it. */
    private static Bundle install(BundleContext context, Path file) throws BundleException {
        try (InputStream in = Files.newInputStream(file)) {
            return context.installBundle("carrier:" + file.toUri(), in);
        } catch (IOException e) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, "bundle file " + file + " cannot be read: " + e + ", install again", e);
        }
    }

    /** Starts framework and bundles; fails at the first bundle that does not start. */
    public void start() throws BundleException {
        framework.start();
        for (Bundle bundle : bundles) {
            if (isFragment(bundle)) {
                continue;
            }
            try {
                bundle.start();
            } catch (BundleException e) {
                throw new RelayException(
                        FailureKind.CONFIGURATION,
                        "bundle " + bundle.getSymbolicName() + " does not start: " + rootMessage(e),
                        e);
            }
        }
    }

    /** A service of the role, waited for; fails with what the role says of itself, or what its components wait for. */
    public <S> S await(Class<S> service, ProcessEnd end, Duration limit) {
        BundleContext context = framework.getBundleContext();
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            ServiceReference<S> reference = context.getServiceReference(service);
            S found = reference == null ? null : context.getService(reference);
            if (found != null) {
                return found;
            }
            if (end.awaitReady(Duration.ofMillis(20))) {
                throw end.await()
                        .failure()
                        .orElseThrow(() -> new IllegalStateException(service + " is not of this role"));
            }
            if (System.nanoTime() > deadline) {
                throw new RelayException(
                        FailureKind.TIMEOUT,
                        "the role " + options.role() + " is not up after " + limit.toSeconds() + " s: "
                                + String.join(", ", waiting()));
            }
        }
    }

    /** Which of the role's own components wait for something or failed; plugins are not among them. */
    public List<String> waiting() {
        BundleContext context = framework.getBundleContext();
        ServiceReference<ServiceComponentRuntime> reference =
                context.getServiceReference(ServiceComponentRuntime.class);
        if (reference == null) {
            return List.of("there is no component runtime");
        }
        ServiceComponentRuntime runtime = context.getService(reference);
        List<String> waiting = new ArrayList<>();
        for (ComponentDescriptionDTO description :
                runtime.getComponentDescriptionDTOs(bundles.toArray(Bundle[]::new))) {
            for (ComponentConfigurationDTO component : runtime.getComponentConfigurationDTOs(description)) {
                if (component.state == ComponentConfigurationDTO.UNSATISFIED_CONFIGURATION) {
                    waiting.add(description.name + " waits for its configuration");
                }
                for (UnsatisfiedReferenceDTO missing : component.unsatisfiedReferences) {
                    waiting.add(description.name + " waits for " + missing.name);
                }
                if (component.state == ComponentConfigurationDTO.FAILED_ACTIVATION) {
                    waiting.add(description.name + " failed");
                }
            }
        }
        return waiting;
    }

    /** One text for each bundle that cannot be resolved, naming what it misses; bundles that only wait for such a one are left out. */
    private List<String> unresolved() {
        FrameworkWiring wiring = framework.adapt(FrameworkWiring.class);
        if (wiring.resolveBundles(bundles)) {
            return List.of();
        }
        List<String> missing = new ArrayList<>();
        List<String> waiting = new ArrayList<>();
        for (Bundle bundle : bundles) {
            if (bundle.getState() != Bundle.INSTALLED) {
                continue;
            }
            waiting.add(bundle.getSymbolicName());
            for (BundleRequirement requirement :
                    bundle.adapt(BundleRevision.class).getDeclaredRequirements(null)) {
                if (mandatory(requirement) && wiring.findProviders(requirement).isEmpty()) {
                    missing.add("bundle " + bundle.getSymbolicName() + " requires " + describe(requirement)
                            + ", which nothing provides");
                }
            }
        }
        // Every requirement has a provider, yet no consistent wiring exists: the resolver's own words say why.
        return missing.isEmpty() ? List.of(resolverMessage(waiting)) : missing;
    }

    private String resolverMessage(List<String> waiting) {
        for (Bundle bundle : bundles) {
            if (bundle.getState() == Bundle.INSTALLED && !isFragment(bundle)) {
                try {
                    bundle.start();
                } catch (BundleException e) {
                    return "bundle " + bundle.getSymbolicName() + ": " + rootMessage(e);
                }
            }
        }
        return "bundles " + String.join(", ", waiting);
    }

    private static boolean mandatory(BundleRequirement requirement) {
        Map<String, String> directives = requirement.getDirectives();
        String effective = directives.getOrDefault(Constants.EFFECTIVE_DIRECTIVE, Constants.EFFECTIVE_RESOLVE);
        return effective.equals(Constants.EFFECTIVE_RESOLVE)
                && !Constants.RESOLUTION_OPTIONAL.equals(directives.get(Constants.RESOLUTION_DIRECTIVE))
                && !"dynamic".equals(directives.get(Constants.RESOLUTION_DIRECTIVE));
    }

    private static String describe(BundleRequirement requirement) {
        String filter = requirement.getDirectives().get(Constants.FILTER_DIRECTIVE);
        return requirement.getNamespace() + (filter == null ? "" : " " + filter);
    }

    private static boolean isFragment(Bundle bundle) {
        return (bundle.adapt(BundleRevision.class).getTypes() & BundleRevision.TYPE_FRAGMENT) != 0;
    }

    private static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        String message = root == failure ? failure.getMessage() : root.toString();
        return message == null ? failure.toString() : message.replaceAll("\\s*\\R\\s*", " ");
    }
}
