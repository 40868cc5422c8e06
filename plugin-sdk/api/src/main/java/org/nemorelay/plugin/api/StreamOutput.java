package org.nemorelay.plugin.api;

import org.osgi.annotation.versioning.ProviderType;

/** Where a {@link StreamHandler} puts the events that go on to the agent. Of one stream, for its handler only. */
@ProviderType
public interface StreamOutput {
    /**
     * Sends an event on: the one that was given, a changed one, one of the handler's own. An event that is not emitted is
     * dropped. Allowed while a method of the handler runs, and until the stage that it returned completes.
     */
    void emit(StreamEvent event);

    /** Ends the stream for the agent behind what was emitted. The provider is told to stop; no further event comes. */
    void end();
}
