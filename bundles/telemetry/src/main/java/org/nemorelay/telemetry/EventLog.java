package org.nemorelay.telemetry;

import org.osgi.annotation.versioning.ProviderType;

/**
 * Structured log events (relay-daemon 10, plugins 3). Every process has one: a service in the framework, an object in
 * the plain entry points. Calls return at once and may come from any thread; they never throw.
 */
@ProviderType
public interface EventLog {
    /** The levels of {@code [logging] level}, most severe first. */
    enum Level {
        ERROR,
        WARN,
        INFO,
        DEBUG,
        TRACE
    }

    /** Whether events of this level are written. */
    boolean enabled(Level level);

    /**
     * Writes one event.
     *
     * @param target who speaks, such as {@code nemo_relay.daemon}
     * @param event snake_case name from relay-daemon 10, or empty
     * @param message one line for people
     * @param fields names and values in turn; values become strings; never a secret
     */
    void log(Level level, String target, String event, String message, Object... fields);

    /** Returns when every event logged before the call is written. */
    void flush();
}
