package org.nemorelay.plugin.api;

import java.util.concurrent.CompletionStage;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Changes what is recorded, never what is sent (plugins.md 4.1). Every event goes through the sanitizers before a subscriber
 * sees it, each on what the one before it made, off the request's path.
 *
 * <p>{@code data}, {@code category_profile} and {@code metadata} may change, nothing else of the event. It fails closed:
 * when it throws, completes its stage exceptionally or with {@code null}, changes another field, or takes more than 5
 * seconds, these three are recorded as null, and no further sanitizer sees the event.
 */
@ConsumerType
public interface EventSanitizer {
    /** The event to record, the stage completing on any thread; {@link Event#withData} and its like make it. */
    CompletionStage<Event> sanitize(Event event) throws Exception;

    /** Lower ones come first; among equals the order is that of the plugins' kinds. Read once, when the plugin starts. */
    default int priority() {
        return 100;
    }
}
