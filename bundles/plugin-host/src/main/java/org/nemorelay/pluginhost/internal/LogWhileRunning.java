package org.nemorelay.pluginhost.internal;

import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;

/** Says nothing while the framework stops: what fails then fails for that reason, and no plugin is to blame. */
record LogWhileRunning(BundleContext context, EventLog log) implements EventLog {
    @Override
    public boolean enabled(Level level) {
        return log.enabled(level);
    }

    @Override
    public void log(Level level, String target, String event, String message, Object... fields) {
        if (running()) {
            log.log(level, target, event, message, fields);
        }
    }

    @Override
    public void flush() {
        log.flush();
    }

    private boolean running() {
        try {
            int state = context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION).getState();
            return state == Bundle.STARTING || state == Bundle.ACTIVE;
        } catch (IllegalStateException e) {
            return false; // This bundle itself has been stopped.
        }
    }
}
