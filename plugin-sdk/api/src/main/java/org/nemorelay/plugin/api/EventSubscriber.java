package org.nemorelay.plugin.api;

import org.osgi.annotation.versioning.ConsumerType;

/**
 * Receives every event of the worker, in order (plugins.md 4.1, "subscriber"). A subscriber cannot change an event, a
 * request or an answer, and what it throws concerns nobody else: the next event follows. Its failures are logged once and
 * make the plugin {@code failing} in the administrator's lists, until an event was taken and a flush succeeded.
 *
 * <p>Threading: one thread per subscriber, off the request path. Both methods are called from that thread only, one call
 * at a time. A subscriber that is slower than the events lets its own bounded queue fill up; events that find it full are
 * dropped for this subscriber, counted, and named in the log.
 */
@ConsumerType
public interface EventSubscriber {
    /** One event; it may block the subscriber's own thread, it should not wait for ever. */
    void onEvent(Event event) throws Exception;

    /**
     * Puts everything received so far where it belongs. Called before the worker ends, when somebody needs the records
     * now, some seconds after the last event, and after a failure, to see whether it lasts; a failure that {@link #onEvent} kept to itself is thrown
     * here.
     */
    default void flush() throws Exception {}
}
