package org.nemorelay.telemetry;

import java.util.Objects;
import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.nemorelay.telemetry.EventLog.Level;

/** Feeds what third-party code logs through {@code java.util.logging} into the event log: target is the logger's name, event is empty. */
public final class JavaLogging {
    private JavaLogging() {}

    /**
     * Makes the event log the only handler of this process and lets through what it lets through now; libraries speak
     * from warning on, and freely where debug is wanted. Call again after its level has changed.
     */
    public static void install(EventLog log) {
        Objects.requireNonNull(log);
        LogManager.getLogManager().reset();
        Logger root = Logger.getLogger("");
        root.addHandler(new Bridge(log));
        root.setLevel(threshold(log));
    }

    private static java.util.logging.Level threshold(EventLog log) {
        if (log.enabled(Level.TRACE)) {
            return java.util.logging.Level.ALL;
        }
        if (log.enabled(Level.DEBUG)) {
            return java.util.logging.Level.FINE;
        }
        return log.enabled(Level.WARN) ? java.util.logging.Level.WARNING : java.util.logging.Level.SEVERE;
    }

    static Level level(java.util.logging.Level level) {
        int value = level.intValue();
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

    private static final class Bridge extends Handler {
        private final EventLog log;

        Bridge(EventLog log) {
            this.log = log;
            setFormatter(new SimpleFormatter());
        }

        @Override
        public void publish(LogRecord record) {
            Level level = level(record.getLevel());
            if (!log.enabled(level)) {
                return;
            }
            String target = record.getLoggerName() == null ? "" : record.getLoggerName();
            String message = String.valueOf(getFormatter().formatMessage(record));
            Throwable thrown = record.getThrown();
            if (thrown == null) {
                log.log(level, target, "", message);
            } else if (log.enabled(Level.DEBUG)) {
                log.log(level, target, "", message, "exception", thrown, "stack", stack(thrown));
            } else {
                log.log(level, target, "", message, "exception", thrown);
            }
        }

        private static String stack(Throwable thrown) {
            StringBuilder text = new StringBuilder();
            for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
                if (cause != thrown) {
                    text.append("; caused by ").append(cause).append(' ');
                }
                for (StackTraceElement frame : cause.getStackTrace()) {
                    text.append("at ").append(frame).append(' ');
                }
            }
            return text.toString().strip();
        }

        @Override
        public void flush() {
            log.flush();
        }

        @Override
        public void close() {}
    }
}
