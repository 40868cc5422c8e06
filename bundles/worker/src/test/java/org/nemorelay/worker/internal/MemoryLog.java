package org.nemorelay.worker.internal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.nemorelay.telemetry.EventLog;

/** Keeps what is logged, as {@code event field=value ...}. */
final class MemoryLog implements EventLog {
    final List<String> lines = new CopyOnWriteArrayList<>();

    @Override
    public boolean enabled(Level level) {
        return true;
    }

    @Override
    public void log(Level level, String target, String event, String message, Object... fields) {
        StringBuilder line = new StringBuilder(event);
        for (int i = 0; i < fields.length; i += 2) {
            line.append(' ').append(fields[i]).append('=').append(fields[i + 1]);
        }
        lines.add(line.toString());
    }

    List<String> events() {
        List<String> events = new ArrayList<>();
        lines.forEach(line -> events.addAll(Arrays.asList(line.split(" ")).subList(0, 1)));
        return events;
    }

    @Override
    public void flush() {}
}
