package org.nemorelay.plugin.observability.internal;

import java.io.IOException;
import java.util.Optional;
import org.nemorelay.plugin.api.Event;

/** Where events go. Called from the subscriber's thread only. */
interface Sink {
    /** One event; throws for the event at which a sink fails for good, and for no later one. */
    void write(Event event) throws IOException;

    /** Lets everything that was written reach its place, for a few seconds at most. */
    default void flush() throws InterruptedException {}

    /** Why events have not reached their place since the sink was opened. */
    Optional<IOException> failure();

    void close();
}
