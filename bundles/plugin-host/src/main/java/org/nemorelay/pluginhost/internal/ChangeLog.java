package org.nemorelay.pluginhost.internal;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.nemorelay.telemetry.EventLog;

/** The lines that say what a change has changed. */
final class ChangeLog {
    private final EventLog log;

    ChangeLog(EventLog log) {
        this.log = log;
    }

    /** Some took the place of others. */
    void tookPlace(Collection<Generation> before, Collection<Generation> next) {
        List<Generation> started =
                next.stream().filter(one -> !before.contains(one)).toList();
        List<Generation> ended =
                before.stream().filter(one -> !next.contains(one)).toList();
        for (Generation generation : started) {
            Optional<Generation> old =
                    ended.stream().filter(one -> replaces(generation, one)).findFirst();
            log(
                    EventLog.Level.INFO,
                    old.isPresent() ? "plugin_updated" : "plugin_started",
                    described(generation) + " is active"
                            + old.map(one -> ", it replaces version " + one.version())
                                    .orElse(""),
                    generation.names());
        }
        ended.stream()
                .filter(one -> started.stream().noneMatch(generation -> replaces(generation, one)))
                .forEach(one -> log(
                        EventLog.Level.INFO,
                        "plugin_removed",
                        described(one) + " takes no more requests",
                        one.names()));
    }

    /** One was taken away while it started. */
    void withdrawn(Generation generation) {
        log(
                EventLog.Level.INFO,
                "plugin_removed",
                described(generation) + " is no longer wanted and ends before it was active",
                generation.names());
    }

    /** One goes on that is no longer named. */
    void kept(String kind, String line) {
        log(EventLog.Level.WARN, "plugin_kept", line, kind);
    }

    private static boolean replaces(Generation generation, Generation old) {
        return old.wanted().keySet().stream().anyMatch(generation.wanted()::containsKey);
    }

    private static String described(Generation generation) {
        return "plugin " + generation.names() + " " + generation.version() + " of " + generation.file();
    }

    private void log(EventLog.Level level, String event, String line, String plugin) {
        log.log(level, PluginHostComponent.TARGET, event, line, "plugin", plugin);
    }
}
