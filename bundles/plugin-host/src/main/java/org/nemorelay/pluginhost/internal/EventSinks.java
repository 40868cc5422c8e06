package org.nemorelay.pluginhost.internal;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.pluginhost.EventSink;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.osgi.util.tracker.ServiceTracker;
import org.osgi.util.tracker.ServiceTrackerCustomizer;

/** The event subscribers in the service registry, each behind its own thread. Safe for any thread. */
final class EventSinks implements ServiceTrackerCustomizer<EventSubscriber, SubscriberThread> {
    /** How long a subscriber that goes away may take for what it was given. */
    private static final long CLOSE_MILLIS = 5000;

    private final BundleContext context;
    private final EventLog log;
    private final Runnable changed;
    private final ServiceTracker<EventSubscriber, SubscriberThread> tracker;
    private final Map<ServiceReference<EventSubscriber>, EventSink> serving = new LinkedHashMap<>();
    private volatile Snapshot snapshot = new Snapshot(List.of());

    /** @param changed told, on any thread, when a subscriber has started or did not */
    EventSinks(BundleContext context, EventLog log, Runnable changed) {
        this.context = context;
        this.log = log;
        this.changed = changed;
        this.tracker = new ServiceTracker<>(context, EventSubscriber.class, this);
    }

    void open() {
        tracker.open();
    }

    Snapshot snapshot() {
        return snapshot;
    }

    /** Lets every subscriber finish, and leaves one that does not. */
    void close() {
        tracker.close();
    }

    @Override
    public SubscriberThread addingService(ServiceReference<EventSubscriber> reference) {
        return new SubscriberThread(
                name(reference),
                log,
                // Declarative Services constructs the component here, on the subscriber's thread.
                () -> Optional.ofNullable(context.getService(reference)),
                sink -> {
                    sink.ifPresent(present -> add(reference, present));
                    changed.run();
                });
    }

    @Override
    public void modifiedService(ServiceReference<EventSubscriber> reference, SubscriberThread thread) {}

    @Override
    public void removedService(ServiceReference<EventSubscriber> reference, SubscriberThread thread) {
        remove(reference);
        try {
            if (!thread.close(CLOSE_MILLIS)) {
                log.log(
                        EventLog.Level.ERROR,
                        PluginHostComponent.TARGET,
                        "plugin_abandoned",
                        "plugin " + name(reference) + " did not come to an end, its thread is left behind",
                        "plugin",
                        name(reference));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        context.ungetService(reference);
    }

    private synchronized void add(ServiceReference<EventSubscriber> reference, EventSink sink) {
        serving.put(reference, sink);
        snapshot = new Snapshot(List.copyOf(serving.values()));
    }

    private synchronized void remove(ServiceReference<EventSubscriber> reference) {
        serving.remove(reference);
        snapshot = new Snapshot(List.copyOf(serving.values()));
    }

    private static String name(ServiceReference<EventSubscriber> reference) {
        return reference.getProperty(PluginHostComponent.KIND_PROPERTY) instanceof String kind
                ? kind
                : reference.getBundle().getSymbolicName();
    }
}
