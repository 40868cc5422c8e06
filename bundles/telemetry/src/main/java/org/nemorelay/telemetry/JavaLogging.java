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
     * Makes the event log the only handler of this process. Libraries speak from warning on, whatever the level: their
     * debug lines hold headers and bodies, and with them secrets. Call again after the level has changed.
     */
    public static void install(EventLog log) {
        Objects.requireNonNull(log);
        LogManager.getLogManager().reset();
        Logger root = Logger.getLogger("");
        root.addHandler(new Bridge(log));
        root.setLevel(threshold(log));
    }

    private static java.util.logging.Level threshold(EventLog log) {
        return log.enabled(Level.WARN) ? java.util.logging.Level.WARNING : java.util.logging.Level.SEVERE;
    }

    private static Level level(java.util.logging.Level level) {
        return level.intValue() >= java.util.logging.Level.SEVERE.intValue() ? Level.ERROR : Level.WARN;
    }

    private static final class Bridge extends Handler {
        private final EventLog log;

        Bridge(EventLog log) {
            this.log = log;
            setFormatter(new SimpleFormatter());
            // A library may turn its own loggers up.
            setLevel(java.util.logging.Level.WARNING);
        }

        @Override
        public void publish(LogRecord record) {
            Level level = level(record.getLevel());
            if (!isLoggable(record) || !log.enabled(level)) {
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
