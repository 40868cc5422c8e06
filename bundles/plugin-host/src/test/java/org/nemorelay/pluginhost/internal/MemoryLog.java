package org.nemorelay.pluginhost.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.nemorelay.telemetry.EventLog;

/** Keeps what is logged. */
final class MemoryLog implements EventLog {
    final List<String> messages = new CopyOnWriteArrayList<>();

    /** As {@code LEVEL event: message}. */
    final List<String> lines = new CopyOnWriteArrayList<>();

    @Override
    public boolean enabled(Level level) {
        return true;
    }

    @Override
    public void log(Level level, String target, String event, String message, Object... fields) {
        messages.add(message);
        lines.add(level + " " + event + ": " + message);
    }

    @Override
    public void flush() {}
}
