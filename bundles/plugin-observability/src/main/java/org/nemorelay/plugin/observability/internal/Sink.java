package org.nemorelay.plugin.observability.internal;

import java.io.IOException;
import org.nemorelay.plugin.api.Event;

/** Where events go. Called from the subscriber's thread only. */
interface Sink {
    /** One event. Throws when it, or earlier ones of which that was not told, did not reach their place. */
    void write(Event event) throws IOException;

    /** Lets everything that was written reach its place, for a few seconds at most. Throws like {@link #write}. */
    void flush() throws IOException, InterruptedException;

    void close();
}
