package org.nemorelay.pluginhost.internal;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The class loaders of plugins that were removed. One that outlives two collections of the whole heap is kept by something
 * that the plugin has left behind. Of one thread.
 */
final class Remains {
    private static final Set<String> WHOLE_HEAP = Set.of("MarkSweepCompact", "PS MarkSweep", "G1 Old Generation");
    private static final int COLLECTIONS = 2;

    private final List<Left> left = new ArrayList<>();

    record Left(Generation generation, WeakReference<ClassLoader> loader, long collections) {}

    /** A plugin is gone; its class loader should be soon. */
    void add(Generation generation, WeakReference<ClassLoader> loader) {
        left.add(new Left(generation, loader, collections()));
    }

    /** Those that are still there although they had their time; each is told once. */
    List<Left> kept() {
        if (left.isEmpty()) {
            return List.of();
        }
        long now = collections();
        List<Left> kept = new ArrayList<>();
        left.removeIf(one -> {
            if (one.loader().get() == null) {
                return true;
            }
            boolean due = now - one.collections() >= COLLECTIONS;
            if (due) {
                kept.add(one);
            }
            return due;
        });
        return List.copyOf(kept);
    }

    private static long collections() {
        long count = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (WHOLE_HEAP.contains(collector.getName())) {
                count += collector.getCollectionCount();
            }
        }
        return count;
    }
}
