package org.nemorelay.fleet.internal;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.nemorelay.config.BundleFolders;
import org.nemorelay.config.BundleFolders.Entry;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.Stillness;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;

/**
 * Follows the files of the carriers that a role began with, in the tree's {@code carriers/}: what is new or replaced starts
 * beside what runs, and what it replaces ends when the new one has its connections. One that does not come up changes
 * nothing. Files of other carriers are not this role's.
 */
@Component(
        service = {},
        immediate = true)
public final class CarrierFiles {
    /** What the launcher puts before the file's address, and what is installed here does too. */
    private static final String LOCATION = "carrier:";

    private static final String TARGET = "nemo_relay.carriers";
    private static final long LOOK_MILLIS = 1_000;
    private static final long LOOK_AGAIN_MILLIS = 100;
    private static final long SETTLED_MILLIS = 600;

    /** How long a new bundle may take to come up, connections included. */
    private static final Duration UP = Duration.ofSeconds(30);

    private final BundleContext context;
    private final EventLog log;
    private final BundleFolders folder;
    /** Symbolic names of the role's carriers. */
    private final Set<String> names = new TreeSet<>();

    private final Map<Path, Bundle> running = new LinkedHashMap<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private List<Entry> applied;
    private int copies;

    /** A change that is not made, and why. */
    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;

        Refused(String why) {
            super(why);
        }
    }

    @Activate
    public CarrierFiles(BundleContext context, @Reference LaunchOptions options, @Reference EventLog log) {
        this.context = context;
        this.log = log;
        this.folder = new BundleFolders(options.home(), options.home().resolve("carriers"));
        for (Bundle bundle : context.getBundles()) {
            if (bundle.getLocation().startsWith(LOCATION)) {
                running.put(file(bundle), bundle);
                names.add(bundle.getSymbolicName());
            }
        }
        applied = folder.look();
        thread = Thread.ofPlatform().daemon().name("carrier-files").start(this::run);
    }

    private static Path file(Bundle bundle) {
        String address = bundle.getLocation().substring(LOCATION.length());
        return Path.of(URI.create(address.replaceFirst("#.*", "")));
    }

    private void run() {
        try {
            while (true) {
                List<Entry> entries = settled();
                follow(entries);
                applied = entries;
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    /** What lies in the folder, once that has changed and stands still. */
    private List<Entry> settled() throws InterruptedException {
        Stillness<List<Entry>> seen = new Stillness<>(folder.look());
        while (true) {
            boolean changed = !seen.last().equals(applied);
            if (changed && seen.stoodFor(SETTLED_MILLIS)) {
                return seen.last();
            }
            pause(changed ? LOOK_AGAIN_MILLIS : LOOK_MILLIS);
            seen.seen(folder.look());
        }
    }

    private void pause(long millis) throws InterruptedException {
        if (closing.await(millis, TimeUnit.MILLISECONDS)) {
            throw new InterruptedException();
        }
    }

    /** What is new comes before what has gone goes: a new version beside an old one takes its place without a gap. */
    private void follow(List<Entry> entries) throws InterruptedException {
        for (Entry entry : entries) {
            if (applied.contains(entry)) {
                continue;
            }
            switch (entry) {
                case Entry.Jar(Path file, BundleFolders.Stat _) -> bring(file);
                case Entry.Refused(Path file, String reason) -> refused(file, reason);
                case Entry.Ignored _ -> {}
            }
        }
        Set<Path> there = entries.stream().map(Entry::file).collect(Collectors.toSet());
        for (Path file : List.copyOf(running.keySet())) {
            if (!there.contains(file)) {
                end(running.remove(file));
                log.log(Level.INFO, TARGET, "carrier_removed", "carrier file " + file + " is gone", "file", file);
            }
        }
    }

    private void refused(Path file, String why) {
        log.log(Level.ERROR, TARGET, "carrier_refused", "carrier file " + file + " " + why, "file", file);
    }

    private void bring(Path file) throws InterruptedException {
        Optional<Bundle> before = Optional.ofNullable(running.get(file));
        Bundle next;
        try (InputStream in = Files.newInputStream(file)) {
            next = context.installBundle(LOCATION + file.toUri() + "#" + ++copies, in);
        } catch (IOException | BundleException e) {
            if (before.isPresent() || names.stream().anyMatch(file.getFileName().toString()::startsWith)) {
                refused(file, "cannot be installed (" + e.getMessage() + "), copy it again; what runs is kept");
            }
            return;
        }
        try {
            if (before.isEmpty() && !names.contains(next.getSymbolicName())) {
                uninstall(next);
                return;
            }
            start(next, before);
        } catch (Refused e) {
            uninstall(next);
            refused(file, e.getMessage() + "; what runs is kept");
            return;
        } catch (InterruptedException e) {
            uninstall(next);
            throw e;
        }
        running.put(file, next);
        before.ifPresent(this::end);
        log.log(
                Level.INFO,
                TARGET,
                before.isPresent() ? "carrier_updated" : "carrier_added",
                "carrier " + next.getSymbolicName() + " " + next.getVersion() + " runs from " + file,
                "file",
                file);
    }

    /** Returns when the new bundle stands in for every one of its name that runs. */
    private void start(Bundle next, Optional<Bundle> before) throws Refused, InterruptedException {
        if (before.filter(old -> !old.getSymbolicName().equals(next.getSymbolicName()))
                .isPresent()) {
            throw new Refused(
                    "is " + next.getSymbolicName() + ", not " + before.get().getSymbolicName());
        }
        try {
            // The framework itself never starts it: what hangs then would hang every stop.
            next.start(Bundle.START_TRANSIENT);
        } catch (BundleException e) {
            throw new Refused(
                    "does not start: " + String.valueOf(e.getMessage()).replaceAll("\\s*\\R\\s*", " "));
        }
        long end = System.nanoTime() + UP.toNanos();
        List<String> missing = missing(next);
        while (!missing.isEmpty()) {
            if (System.nanoTime() - end > 0) {
                throw new Refused("has no connection of carrier " + String.join(", ", missing) + " after "
                        + UP.toSeconds() + " s");
            }
            pause(LOOK_AGAIN_MILLIS / 4);
            missing = missing(next);
        }
    }

    /** Carriers of running bundles of this name that the new one does not have as they are. */
    private List<String> missing(Bundle next) {
        Map<String, Boolean> now = carriers(next);
        List<String> missing = new ArrayList<>();
        for (Bundle old : running.values()) {
            if (old.getSymbolicName().equals(next.getSymbolicName())) {
                carriers(old).forEach((name, connected) -> {
                    if (!now.containsKey(name) || connected && !now.get(name)) {
                        missing.add(name);
                    }
                });
            }
        }
        return missing;
    }

    /** Names of a bundle's carriers and whether each is connected. */
    private Map<String, Boolean> carriers(Bundle bundle) {
        Map<String, Boolean> found = new LinkedHashMap<>();
        ServiceReference<?>[] services = bundle.getRegisteredServices();
        for (ServiceReference<?> reference : services == null ? new ServiceReference<?>[0] : services) {
            if (reference.getProperty(Carrier.NAME) instanceof String name
                    && context.getService(reference) instanceof Carrier carrier) {
                found.put(name, carrier.connected());
                context.ungetService(reference);
            }
        }
        return found;
    }

    /** Ends a bundle; its calls end first, and what stands has moved by then. */
    private void end(Bundle bundle) {
        uninstall(bundle);
        context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION)
                .adapt(FrameworkWiring.class)
                .refreshBundles(List.of(bundle));
    }

    private void uninstall(Bundle bundle) {
        try {
            if (bundle.getState() == Bundle.ACTIVE) {
                bundle.stop();
            }
            bundle.uninstall();
        } catch (BundleException | IllegalStateException e) {
            log.log(
                    Level.WARN,
                    TARGET,
                    "carrier_not_ended",
                    "carrier " + bundle.getSymbolicName() + " did not end cleanly: " + e.getMessage());
        }
    }

    @Deactivate
    void deactivate() throws InterruptedException {
        closing.countDown();
        thread.join();
    }
}
