package org.nemorelay.launcher;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.nemorelay.telemetry.EventLog;

/** Keeps every line. */
public final class MemoryLog implements EventLog {
    public final List<String> lines = new CopyOnWriteArrayList<>();

    @Override
    public boolean enabled(Level level) {
        return level.compareTo(Level.INFO) <= 0;
    }

    @Override
    public void log(Level level, String target, String event, String message, Object... fields) {
        lines.add(level + " " + target + " " + event + " " + message);
    }

    @Override
    public void flush() {}
}
