package org.nemorelay.launcher.internal;

import org.apache.felix.framework.Logger;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.osgi.framework.Bundle;
import org.osgi.framework.ServiceReference;

/** The framework's own log. By default it would go to standard output, which belongs to the protocols. */
final class FelixLog extends Logger {
    private static final String TARGET = "org.apache.felix.framework";

    private final EventLog log;

    FelixLog(EventLog log) {
        this.log = log;
        setLogLevel(log.enabled(Level.TRACE) ? LOG_DEBUG : LOG_WARNING);
    }

    @Override
    @SuppressWarnings("rawtypes")
    protected void doLog(Bundle bundle, ServiceReference service, int level, String message, Throwable thrown) {
        doLog(level, bundle == null ? message : bundle.getSymbolicName() + ": " + message, thrown);
    }

    @Override
    protected void doLog(int level, String message, Throwable thrown) {
        Level own = switch (level) {
            case LOG_ERROR -> Level.ERROR;
            case LOG_WARNING -> Level.WARN;
            case LOG_INFO -> Level.INFO;
            default -> Level.TRACE;
        };
        log.log(own, TARGET, "", thrown == null ? message : message + ": " + thrown);
    }
}
