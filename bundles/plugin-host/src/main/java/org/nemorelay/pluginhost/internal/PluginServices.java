package org.nemorelay.pluginhost.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.osgi.util.tracker.ServiceTracker;
import org.osgi.util.tracker.ServiceTrackerCustomizer;

/**
 * The plugins' services of one type in the registry, each behind threads of its own. Safe for any thread.
 *
 * @param <S> the service's type
 * @param <H> what it serves behind
 */
final class PluginServices<S, H> implements ServiceTrackerCustomizer<S, PluginServices.Runner> {
    /** How many services of one plugin may be in use. */
    static final int MAX_SERVICES = 64;

    private final BundleContext context;
    private final BiConsumer<Bundle, String> left;
    private final long closeMillis;
    private final Starter<S, H> starter;
    private final Runnable changed;
    private final ServiceTracker<S, Runner> tracker;

    // Guarded by this; empty while a service is activated.
    private final Map<ServiceReference<S>, Optional<H>> services = new LinkedHashMap<>();
    private final Map<Bundle, List<H>> lost = new LinkedHashMap<>();

    /** The threads of one service. */
    interface Runner {
        /** Lets it finish for as long as {@code millis}, then interrupts it. Returns whether all its threads have ended. */
        boolean close(long millis) throws InterruptedException;

        /** Why the service does not do what it is for, as one line; empty while it does. */
        default String trouble() {
            return "";
        }
    }

    /** Starts the threads of a service, on which it is also activated. */
    interface Starter<S, H> {
        /**
         * @param activation gets the service, which may construct it and take any time; empty when there is none
         * @param started to be told on the new thread what activation found
         */
        Runner start(String name, Supplier<Optional<S>> activation, Consumer<Optional<H>> started);
    }

    /**
     * @param left told of a service that is gone and whose calls have not come back, by bundle and kind
     * @param closeMillis how long a service that goes away may take for what it was given
     * @param changed told, on any thread, when a service has started, did not, or is gone
     */
    PluginServices(
            BundleContext context,
            BiConsumer<Bundle, String> left,
            long closeMillis,
            Class<S> type,
            Starter<S, H> starter,
            Runnable changed) {
        this.context = context;
        this.left = left;
        this.closeMillis = closeMillis;
        this.starter = starter;
        this.changed = changed;
        this.tracker = new ServiceTracker<>(context, type, this);
    }

    void open() {
        tracker.open();
    }

    /** Lets every service finish, and leaves one that does not. */
    void close() {
        tracker.close();
    }

    /**
     * The services of the bundles that are to be seen. One that has gone by itself is among them, ended: what fails closed
     * has to stay in its place.
     */
    synchronized List<H> serving(Predicate<Bundle> shown) {
        lost.keySet().removeIf(bundle -> !shown.test(bundle));
        List<H> serving = new ArrayList<>();
        services.forEach((reference, handle) -> {
            if (shown.test(reference.getBundle())) {
                handle.ifPresent(serving::add);
            }
        });
        lost.values().forEach(serving::addAll);
        return List.copyOf(serving);
    }

    /** Whether all services of a bundle, if it has any, are among those that serve. */
    synchronized boolean serve(Bundle bundle) {
        return services.entrySet().stream()
                .allMatch(entry -> entry.getValue().isPresent()
                        || !bundle.equals(entry.getKey().getBundle()));
    }

    /** Why a plugin kind's services of a bundle do not do what they are for; empty while they do. */
    String trouble(Bundle bundle, String kind) {
        return tracker.getTracked().entrySet().stream()
                .filter(entry -> bundle.equals(entry.getKey().getBundle())
                        && kind.equals(entry.getKey().getProperty(PluginHostComponent.KIND_PROPERTY)))
                .map(entry -> entry.getValue().trouble())
                .filter(trouble -> !trouble.isEmpty())
                .findFirst()
                .orElse("");
    }

    @Override
    public Runner addingService(ServiceReference<S> reference) {
        if (!count(reference.getBundle())) {
            // Each would get a thread; the host refuses the whole plugin.
            return null;
        }
        set(reference, Optional.empty());
        return starter.start(
                name(reference),
                // Declarative Services constructs the component here, on the plugin's thread.
                () -> Optional.ofNullable(context.getService(reference)),
                handle -> {
                    set(reference, handle);
                    changed.run();
                });
    }

    @Override
    public void modifiedService(ServiceReference<S> reference, Runner runner) {}

    @Override
    public void removedService(ServiceReference<S> reference, Runner runner) {
        remove(reference);
        changed.run();
        try {
            if (!runner.close(closeMillis)) {
                left.accept(reference.getBundle(), name(reference));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        context.ungetService(reference);
    }

    private synchronized boolean count(Bundle bundle) {
        return services.keySet().stream()
                        .filter(reference -> bundle.equals(reference.getBundle()))
                        .count()
                < MAX_SERVICES;
    }

    private synchronized void set(ServiceReference<S> reference, Optional<H> handle) {
        services.put(reference, handle);
        if (handle.isPresent()) {
            // It is back.
            lost.remove(reference.getBundle());
        }
    }

    private synchronized void remove(ServiceReference<S> reference) {
        Optional<H> handle = services.remove(reference);
        Bundle bundle = reference.getBundle();
        if (bundle != null && handle != null && handle.isPresent()) {
            lost.computeIfAbsent(bundle, first -> new ArrayList<>()).add(handle.get());
        }
    }

    private static String name(ServiceReference<?> reference) {
        return reference.getProperty(PluginHostComponent.KIND_PROPERTY) instanceof String kind
                ? kind
                : reference.getBundle().getSymbolicName();
    }
}
