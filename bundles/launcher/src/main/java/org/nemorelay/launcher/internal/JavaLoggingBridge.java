package org.nemorelay.launcher.internal;

import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** Third-party code logs through SLF4J into java.util.logging; this sends all of it to the event log. */
public final class JavaLoggingBridge extends Handler {
    private final EventLog log;

    private JavaLoggingBridge(EventLog log) {
        this.log = log;
        setFormatter(new SimpleFormatter());
    }

    /** Replaces every handler of this process. Libraries speak from warning on, and freely where debug is wanted. */
    public static void install(EventLog log) {
        LogManager.getLogManager().reset();
        Logger root = Logger.getLogger("");
        root.setLevel(log.enabled(Level.DEBUG) ? java.util.logging.Level.FINE : java.util.logging.Level.WARNING);
        Handler bridge = new JavaLoggingBridge(log);
        bridge.setLevel(java.util.logging.Level.ALL);
        root.addHandler(bridge);
    }

    @Override
    public void publish(LogRecord entry) {
        if (!isLoggable(entry)) {
            return;
        }
        String message = getFormatter().formatMessage(entry);
        log.log(
                level(entry.getLevel().intValue()),
                String.valueOf(entry.getLoggerName()),
                "",
                entry.getThrown() == null ? message : message + ": " + entry.getThrown());
    }

    private static Level level(int value) {
        if (value >= java.util.logging.Level.SEVERE.intValue()) {
            return Level.ERROR;
        }
        if (value >= java.util.logging.Level.WARNING.intValue()) {
            return Level.WARN;
        }
        if (value >= java.util.logging.Level.INFO.intValue()) {
            return Level.INFO;
        }
        return value >= java.util.logging.Level.FINE.intValue() ? Level.DEBUG : Level.TRACE;
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
