package org.nemorelay.pluginhost.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.nemorelay.config.BundleFolders;
import org.nemorelay.config.BundleFolders.Entry;
import org.nemorelay.config.BundleFolders.Stat;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;

/** The plugin folders, and private copies of the jars in them that may be run. Of one thread. */
final class PluginFiles {
    private final BundleContext context;
    private final BundleFolders folders;
    private final Departures departures;
    private final EventLog log;
    private final Map<Path, Seen> seen = new LinkedHashMap<>();
    private List<Entry> applied = List.of();

    /** Refusals of files whose earlier version serves: who goes on without the new one says so, in one line with the reason. */
    private final Map<Path, String> untold = new LinkedHashMap<>();

    private int copies;

    /** What was found out about a jar. */
    record Seen(Stat stat, Optional<Generation> generation, String refusal) {}

    PluginFiles(BundleContext context, BundleFolders folders, Departures departures, EventLog log) {
        this.context = context;
        this.folders = folders;
        this.departures = departures;
        this.log = log;
    }

    /** What lies in the folders now. */
    List<Entry> look() {
        return folders.look();
    }

    /** What lay in them when that was last {@linkplain #take taken}. */
    List<Entry> applied() {
        return applied;
    }

    /** What was found out about each jar of that. */
    Map<Path, Seen> seen() {
        return Collections.unmodifiableMap(seen);
    }

    /** Those of the jars that may be run. */
    List<Generation> generations() {
        return seen.values().stream().flatMap(one -> one.generation().stream()).toList();
    }

    /** The copy of a jar that may be run. */
    Generation generation(Path file) {
        return seen.get(file).generation().orElseThrow();
    }

    /** Why a jar that was there is not to be used, or its folder, with the name of what is refused. */
    Optional<String> refusal(Path file) {
        return Stream.of(file, file.getParent())
                .filter(seen::containsKey)
                .filter(path -> !seen.get(path).refusal().isEmpty())
                .map(path -> path + " " + seen.get(path).refusal())
                .findFirst();
    }

    /** The folders that cannot be used, and why, as a part of a sentence; empty where none is. */
    String unusable() {
        StringBuilder unusable = new StringBuilder();
        for (Path folder : folders.folders()) {
            if (seen.containsKey(folder)) {
                unusable.append("; ")
                        .append(folder)
                        .append(' ')
                        .append(seen.get(folder).refusal());
            } else if (!Files.exists(folder)) {
                unusable.append("; ").append(folder).append(" is not there");
            }
        }
        return unusable.toString();
    }

    /** The folders, as a part of a sentence. */
    String places() {
        return String.join(
                " or ", folders.folders().stream().map(Path::toString).toList());
    }

    /**
     * Installs a copy of each jar that is new or has changed and passes the checks.
     *
     * @param used what stays although its file is another now
     */
    void take(List<Entry> entries, Set<Generation> used) {
        Map<Path, Seen> now = new LinkedHashMap<>();
        Set<Path> serving = new HashSet<>();
        used.forEach(generation -> serving.add(generation.file()));
        for (Entry entry : entries) {
            Seen before = seen.get(entry.file());
            switch (entry) {
                case Entry.Jar(Path file, Stat stat) ->
                    now.put(file, before != null && stat.equals(before.stat()) ? before : read(file, stat, serving));
                case Entry.Refused(Path file, String reason) -> {
                    now.put(file, new Seen(new Stat(0, null, ""), Optional.empty(), reason));
                    if (before == null || !before.refusal().equals(reason)) {
                        refuse(file, reason, serving);
                    }
                }
                case Entry.Ignored _ -> {}
            }
        }
        Set<Generation> kept = new HashSet<>(used);
        now.values().forEach(one -> one.generation().ifPresent(kept::add));
        for (Seen one : seen.values()) {
            one.generation().filter(generation -> !kept.contains(generation)).ifPresent(departures::remove);
        }
        seen.clear();
        seen.putAll(now);
        applied = List.copyOf(entries);
    }

    private Seen read(Path file, Stat stat, Set<Path> serving) {
        try {
            Generation generation = install(file);
            Optional<String> refusal = generation.refusal();
            if (refusal.isEmpty()) {
                return new Seen(stat, Optional.of(generation), "");
            }
            departures.remove(generation);
            refuse(file, refusal.get(), serving);
            return new Seen(stat, Optional.empty(), refusal.get());
        } catch (Unusable e) {
            refuse(file, e.getMessage(), serving);
            return new Seen(stat, Optional.empty(), e.getMessage());
        }
    }

    /** A jar that is not installed; the message follows the file's name. */
    static final class Unusable extends Exception {
        private static final long serialVersionUID = 1L;

        Unusable(String message) {
            super(message);
        }
    }

    Generation install(Path file) throws Unusable {
        Path copy = context.getDataFile(Generation.COPY.substring(1) + ++copies + ".jar")
                .toPath();
        try {
            Optional<String> uncopied = JarCheck.uncopied(file);
            if (uncopied.isPresent()) {
                throw new Unusable(uncopied.get());
            }
            String sha256 = JarCheck.copy(file, copy);
            Optional<String> refusal = JarCheck.refusal(copy);
            if (refusal.isPresent()) {
                Files.deleteIfExists(copy);
                throw new Unusable(refusal.get());
            }
            return new Generation(context, file, sha256, copy);
        } catch (IOException e) {
            throw new Unusable("cannot be read (" + BundleFolders.reason(e) + "), make it readable or remove it");
        } catch (BundleException e) {
            throw new Unusable("cannot be installed: " + Failures.install(e) + "; correct its manifest");
        }
    }

    private void refuse(Path file, String reason, Set<Path> serving) {
        if (serving.contains(file)) {
            untold.put(file, reason);
        } else {
            refuse(file, reason);
        }
    }

    /** Whether a line tells a refusal that was not told yet. */
    boolean news(String line) {
        return untold.entrySet().stream().anyMatch(entry -> line.contains(refused(entry.getKey(), entry.getValue())));
    }

    /** Tells what of the refusals is in none of the lines that were told. */
    void tellRest(Collection<String> told) {
        untold.forEach((file, reason) -> {
            if (told.stream().noneMatch(line -> line.contains(refused(file, reason)))) {
                refuse(file, reason);
            }
        });
        untold.clear();
    }

    private static String refused(Path file, String reason) {
        return "plugin file " + file + " " + reason;
    }

    /** A file that nobody has asked for by name may be broken; a planned kind that it should provide is then missing. */
    private void refuse(Path file, String reason) {
        log.log(
                EventLog.Level.ERROR,
                PluginHostComponent.TARGET,
                "plugin_quarantined",
                refused(file, reason),
                "file",
                file);
    }
}
