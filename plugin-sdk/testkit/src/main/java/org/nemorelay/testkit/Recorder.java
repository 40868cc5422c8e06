package org.nemorelay.testkit;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;

/** Stands in for the log and the process: remembers what was said, and ends nothing. */
public final class Recorder implements EventLog, ProcessControl {
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<RelayException> failures = new CopyOnWriteArrayList<>();

    /** Everything logged, as {@code LEVEL message}. */
    public List<String> lines() {
        return List.copyOf(lines);
    }

    /** What would each have ended the process. */
    public List<RelayException> failures() {
        return List.copyOf(failures);
    }

    @Override
    public boolean enabled(Level level) {
        return true;
    }

    @Override
    public void log(Level level, String target, String event, String message, Object... fields) {
        lines.add(level + " " + message);
    }

    @Override
    public void flush() {}

    @Override
    public void ready() {}

    @Override
    public void fail(RelayException failure) {
        failures.add(failure);
    }

    @Override
    public void exit(int status) {
        lines.add("exit " + status);
    }
}
