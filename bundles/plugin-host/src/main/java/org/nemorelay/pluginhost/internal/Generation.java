package org.nemorelay.pluginhost.internal;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Dictionary;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.nemorelay.plugin.api.PluginKind;
import org.nemorelay.protocol.Reasons;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.wiring.BundleCapability;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.framework.wiring.BundleWire;
import org.osgi.framework.wiring.BundleWiring;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.xml.sax.SAXException;

/**
 * One installed copy of a plugin file. It is started at most once, with configurations that only it sees: another file or
 * another configuration is another generation, which starts beside this one before it takes its place. Plugin code runs on
 * threads of its own thread group, never on the host's.
 */
final class Generation {
    private static final String SCHEME = "reference:";

    /** How the name of a private copy begins. */
    static final String COPY = "/nemo-relay-plugin-";

    private static final int NAMED = 10;

    /** How long threads may take to end that the plugin has told to. */
    private static final long THREADS_MILLIS = 1_000;

    /**
     * A kind that the bundle says it provides.
     *
     * @param keys what it says about its configuration; empty where only the plugin itself knows
     */
    record Kind(String name, boolean observer, Optional<ConfigKeys> keys) {}

    private final BundleContext context;
    private final Path file;
    private final String sha256;
    private final Path copy;
    private final Bundle bundle;
    private final List<Kind> kinds = new ArrayList<>();
    private final ThreadGroup threads;
    private final List<Configuration> configurations = new ArrayList<>();
    /** Why the start failed, empty where it has not. */
    private final CompletableFuture<String> started = new CompletableFuture<>();

    private Map<String, Map<String, Object>> wanted = Map.of();
    private Optional<Thread> starter = Optional.empty();
    private String undeclared = "";

    /**
     * Installs a copy; nothing of it runs.
     *
     * @param copy the private copy, removed with the bundle
     */
    Generation(BundleContext context, Path file, String sha256, Path copy) throws BundleException {
        this.context = context;
        this.file = file;
        this.sha256 = sha256;
        this.copy = copy;
        this.bundle = context.installBundle(SCHEME + copy.toUri());
        for (BundleCapability capability :
                bundle.adapt(BundleRevision.class).getDeclaredCapabilities(PluginKind.NAMESPACE)) {
            Map<String, Object> attributes = capability.getAttributes();
            kinds.add(new Kind(
                    String.valueOf(attributes.get("kind")),
                    Boolean.parseBoolean(String.valueOf(attributes.get("observer"))),
                    keys(attributes.get("config"))));
        }
        this.threads = new ThreadGroup("plugin-"
                + (kinds.isEmpty() ? bundle.getSymbolicName() : kinds.getFirst().name()));
    }

    private Optional<ConfigKeys> keys(Object declared) {
        try {
            return ConfigKeys.of(declared);
        } catch (IllegalArgumentException e) {
            undeclared =
                    "declares its configuration wrongly: " + e.getMessage() + ", correct @PluginKind(config = ...)";
            return Optional.empty();
        }
    }

    /** Whether a bundle is an installed plugin file. */
    static boolean isPlugin(Bundle bundle) {
        return bundle.getLocation().startsWith(SCHEME) && bundle.getLocation().contains(COPY);
    }

    Path file() {
        return file;
    }

    String sha256() {
        return sha256;
    }

    Bundle bundle() {
        return bundle;
    }

    String version() {
        return bundle.getVersion().toString();
    }

    List<Kind> kinds() {
        return List.copyOf(kinds);
    }

    /** What people call it: those of its kinds that are planned, all where none is, or the bundle where it has none. */
    String names() {
        if (kinds.isEmpty()) {
            return bundle.getSymbolicName();
        }
        List<String> names = kinds.stream().map(Kind::name).toList();
        List<String> planned = names.stream().filter(wanted::containsKey).toList();
        return String.join(", ", planned.isEmpty() ? names : planned);
    }

    Optional<Kind> kind(String name) {
        return kinds.stream().filter(kind -> kind.name().equals(name)).findFirst();
    }

    /** Of the classes that have run; empty where none has. */
    Optional<WeakReference<ClassLoader>> loader() {
        return Optional.ofNullable(bundle.adapt(BundleWiring.class))
                .filter(wiring -> starter.isPresent())
                .map(BundleWiring::getClassLoader)
                .map(WeakReference::new);
    }

    /** The planned kinds with their configurations; empty before the start. */
    Map<String, Map<String, Object>> wanted() {
        return wanted;
    }

    boolean unused() {
        return starter.isEmpty();
    }

    /** Whether it already runs what is wanted of a file. */
    boolean runs(String digest, Map<String, Map<String, Object>> configurationByKind) {
        return sha256.equals(digest) && text(wanted).equals(text(configurationByKind));
    }

    /** Whether it is wired, directly or through others, to one of these. */
    boolean dependsOn(Set<Bundle> bundles) {
        BundleWiring wiring = bundle.adapt(BundleWiring.class);
        return wiring != null
                && Stream.ofNullable(wiring.getRequiredWires(null))
                        .flatMap(List::stream)
                        .map(BundleWire::getProvider)
                        .anyMatch(provider -> bundles.contains(provider.getBundle()));
    }

    /** Why the jar must not run although it can be installed; no code of it has run yet. */
    Optional<String> refusal() {
        if (!undeclared.isEmpty()) {
            return Optional.of(undeclared);
        }
        Optional<String> inside = Offer.refusal(bundle, context);
        if (inside.isPresent()) {
            return inside;
        }
        for (BundleCapability exported :
                bundle.adapt(BundleRevision.class).getDeclaredCapabilities(BundleRevision.PACKAGE_NAMESPACE)) {
            String name = String.valueOf(exported.getAttributes().get(BundleRevision.PACKAGE_NAMESPACE));
            if (JarCheck.api(name)) {
                return Optional.of("exports the package " + name
                        + ", which only the relay provides: leave it out of Export-Package");
            }
        }
        return Optional.empty();
    }

    /** Why no component of the bundle can be what it says; empty where each kind has one. */
    Optional<String> componentless() {
        return classless(
                        Constants.BUNDLE_ACTIVATOR,
                        Optional.ofNullable(bundle.getHeaders().get(Constants.BUNDLE_ACTIVATOR)))
                .or(this::withoutComponent);
    }

    /** Why a class that the bundle names cannot be loaded, without loading any. */
    private Optional<String> classless(String where, Optional<String> named) {
        String name = named.orElse("").strip();
        String shown = Reasons.said(name);
        BundleWiring wiring = bundle.adapt(BundleWiring.class);
        int dot = name.lastIndexOf('.');
        if (name.isEmpty() || wiring == null || imports(wiring, dot < 0 ? "" : name.substring(0, dot))) {
            return Optional.empty();
        }
        String file = name.replace('.', '/') + ".class";
        URL there = bundle.getResource(file);
        if (there == null || name.startsWith("java.")) {
            return Optional.of(where + " names the class " + shown + ", which is not in the jar; build it again");
        }
        try (InputStream in = there.openStream()) {
            return JarCheck.broken(name, in.readAllBytes(), where.equals(Constants.BUNDLE_ACTIVATOR))
                    .map(why -> where + " names the class " + shown + ", whose file " + Reasons.said(file) + " " + why
                            + "; build it again");
        } catch (IOException e) {
            return Optional.of(where + " names the class " + shown + ", whose file " + Reasons.said(file)
                    + " cannot be read; build it again");
        }
    }

    /** Whether a package may come from another bundle. */
    private static boolean imports(BundleWiring wiring, String packageName) {
        return Stream.of(BundleRevision.PACKAGE_NAMESPACE, BundleRevision.BUNDLE_NAMESPACE)
                .flatMap(namespace -> wiring.getRequiredWires(namespace).stream())
                .map(BundleWire::getCapability)
                .anyMatch(provided -> provided.getNamespace().equals(BundleRevision.BUNDLE_NAMESPACE)
                        || packageName.equals(provided.getAttributes().get(BundleRevision.PACKAGE_NAMESPACE)));
    }

    private Optional<String> withoutComponent() {
        String header = bundle.getHeaders().get(ComponentXml.HEADER);
        if (header == null) {
            return kinds.isEmpty()
                    ? Optional.empty()
                    : Optional.of("has no component: its manifest lacks Service-Component; build it with bnd");
        }
        Set<String> pids = new HashSet<>();
        for (String path : header.split("\\s*,\\s*")) {
            int slash = path.lastIndexOf('/');
            Enumeration<URL> files =
                    bundle.findEntries(slash < 0 ? "/" : path.substring(0, slash), path.substring(slash + 1), false);
            while (files != null && files.hasMoreElements()) {
                Optional<String> wrong = described(files.nextElement(), pids);
                if (wrong.isPresent()) {
                    return wrong;
                }
            }
        }
        return kinds.stream()
                .map(Kind::name)
                .filter(kind -> !pids.contains(kind))
                .findFirst()
                .map(kind -> "has no component with the configuration PID \"" + kind + "\"; correct the plugin");
    }

    /** Adds the configuration PIDs of component descriptions; returns what is wrong with one of them. */
    private Optional<String> described(URL description, Set<String> pids) {
        String name = description.getPath().substring(1);
        try (InputStream in = description.openStream()) {
            for (ComponentXml.Described component : ComponentXml.read(in)) {
                pids.addAll(component.pids());
                Optional<String> lost = classless(name, component.implementation());
                if (lost.isPresent()) {
                    return lost;
                }
            }
            return Optional.empty();
        } catch (SAXException e) {
            return Optional.of(Reasons.said(name) + " " + e.getMessage() + "; build it again");
        } catch (IOException e) {
            return Optional.of(name + " cannot be read; build it again");
        }
    }

    /** Why the bundle cannot run here, from its manifest and what else there is; resolves it and starts nothing. */
    Optional<String> unresolved() {
        FrameworkWiring wiring = wiring();
        Optional<String> absent = Failures.absentApi(bundle, wiring);
        if (absent.isPresent()) {
            return absent;
        }
        if (wiring.resolveBundles(List.of(bundle))) {
            return Optional.empty();
        }
        try {
            // What is not resolved is not started: the framework only says why.
            bundle.start(Bundle.START_TRANSIENT);
            return Optional.empty();
        } catch (BundleException e) {
            return Optional.of(Failures.start(bundle, wiring, e));
        }
    }

    /**
     * Starts the bundle with its configurations on a thread of the plugin's.
     *
     * @param told runs on that thread when {@link #started()} is decided
     */
    void start(ConfigurationAdmin admin, Map<String, Map<String, Object>> configurationByKind, Runnable told)
            throws IOException {
        wanted = Map.copyOf(configurationByKind);
        for (Map.Entry<String, Map<String, Object>> entry : wanted.entrySet()) {
            Dictionary<String, Object> properties = new Hashtable<>(entry.getValue());
            properties.put(PluginHostComponent.KIND_PROPERTY, entry.getKey());
            Configuration configuration = admin.getFactoryConfiguration(
                    entry.getKey(), copy.getFileName().toString(), bundle.getLocation());
            configurations.add(configuration);
            configuration.update(properties);
        }
        Thread thread = new Thread(
                threads,
                () -> {
                    try {
                        // Never again by the framework itself: what hangs on its own thread hangs every stop.
                        bundle.start(Bundle.START_TRANSIENT);
                        started.complete("");
                    } catch (Throwable e) {
                        // Here, as what a plugin throws is made of its own code.
                        started.complete(line(e));
                    }
                    told.run();
                },
                threads.getName() + "-start");
        thread.setDaemon(true);
        starter = Optional.of(thread);
        thread.start();
    }

    /** Empty while the start goes on; then why it failed, or the empty text. */
    Optional<String> started() {
        if (!started.isDone()) {
            return Optional.empty();
        }
        return Optional.of(started.join());
    }

    private String line(Throwable failure) {
        return failure instanceof BundleException e
                ? Failures.start(bundle, wiring(), e)
                : "does not start: " + Failures.line(Failures.text(failure));
    }

    /** What a retirement came to. */
    sealed interface End {
        /** @param threads names of threads that the plugin left behind */
        record Gone(List<String> threads) implements End {}

        /** It did not come to an end in time; its threads, configuration and classes stay. */
        record Blocked() implements End {}

        /** It could not be ended; what stays is not known. */
        record Failed(String reason) implements End {}
    }

    /**
     * Stops and uninstalls on a thread of the plugin's; completes within {@code millis} and a little, on any thread.
     */
    CompletableFuture<End> retire(long millis) {
        return leave(this::uninstall, millis);
    }

    /** Stops in the same way, when all that is left goes with the process. */
    CompletableFuture<End> stop(long millis) {
        return leave(
                () -> {
                    bundle.stop(Bundle.STOP_TRANSIENT);
                    return new End.Gone(List.of());
                },
                millis);
    }

    private CompletableFuture<End> leave(Callable<End> way, long millis) {
        CompletableFuture<End> end = new CompletableFuture<>();
        Thread stopper = new Thread(
                threads,
                () -> {
                    try {
                        end.complete(way.call());
                    } catch (Throwable e) {
                        end.complete(new End.Failed(Failures.line(Failures.text(e))));
                    }
                },
                threads.getName() + "-stop");
        stopper.setDaemon(true);
        // A start that still goes on would hold up the stop.
        starter.filter(Thread::isAlive).ifPresent(Thread::interrupt);
        stopper.start();
        return end.completeOnTimeout(new End.Blocked(), millis, TimeUnit.MILLISECONDS);
    }

    private End uninstall() throws BundleException, IOException, InterruptedException {
        if (bundle.getState() != Bundle.UNINSTALLED) {
            // Components end here, on this thread; without their configurations they would on Configuration Admin's.
            bundle.uninstall();
        }
        // A plugin may leave this thread interrupted.
        Thread.interrupted();
        for (Configuration configuration : configurations) {
            configuration.delete();
        }
        configurations.clear();
        // Those alone that were wired to it.
        wiring().refreshBundles(List.of(bundle));
        Files.deleteIfExists(copy);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(THREADS_MILLIS);
        List<String> left = threadsLeft();
        while (!left.isEmpty() && System.nanoTime() < deadline) {
            Thread.sleep(20);
            left = threadsLeft();
        }
        return new End.Gone(left);
    }

    /**
     * Whether a thread is one of the JDK's common pool. Who needs one first has it in his group; it serves all and keeps nobody's
     * classes.
     */
    static boolean shared(Thread thread) {
        return thread instanceof ForkJoinWorkerThread worker
                ? worker.getPool() == ForkJoinPool.commonPool()
                : thread.getName().equals("ForkJoinPool.commonPool-delayScheduler")
                        && thread.getClass() != Thread.class
                        && thread.getClass().getClassLoader() == null;
    }

    /** Their names; those of many not one by one. */
    private List<String> threadsLeft() {
        Thread[] alive = new Thread[threads.activeCount() + 16];
        int count = threads.enumerate(alive, true);
        List<String> names = Arrays.stream(alive, 0, count)
                .filter(thread -> thread != Thread.currentThread() && !shared(thread))
                .map(thread -> Reasons.said(thread.getName()))
                .sorted()
                .toList();
        if (names.size() <= NAMED) {
            return names;
        }
        List<String> some = new ArrayList<>(names.subList(0, NAMED));
        some.add("and " + (names.size() - NAMED) + " more");
        return some;
    }

    private FrameworkWiring wiring() {
        return context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION).adapt(FrameworkWiring.class);
    }

    /** A configuration as text, arrays and order aside equal for equal ones. */
    static String text(Object value) {
        return switch (value) {
            case Map<?, ?> map -> {
                Map<String, String> sorted = new TreeMap<>();
                map.forEach((key, inner) -> sorted.put((String) key, text(inner)));
                yield sorted.toString();
            }
            case Object[] array -> Arrays.deepToString(array);
            default -> value.getClass().getSimpleName() + " " + value;
        };
    }
}
