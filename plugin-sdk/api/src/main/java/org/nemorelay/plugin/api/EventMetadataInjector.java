package org.nemorelay.plugin.api;

import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Adds to the metadata of events (plugins.md 4.1, 4.2), before the sanitizers see them and off the request's path.
 *
 * <p>A key is made of segments of ASCII letters, digits, {@code _} and {@code -}, joined by single dots; a value is a string,
 * a number, a boolean or a list of one of these. One that is not makes the whole map void. What an event has already is
 * never replaced. It fails open: when it throws, completes its stage exceptionally, or takes more than 5 seconds, the event
 * goes on without its additions.
 */
@ConsumerType
public interface EventMetadataInjector {
    /** What to add to an event, an empty map for nothing; the stage completes on any thread. */
    CompletionStage<Map<String, Object>> inject(Event event) throws Exception;

    /** Lower ones come first; among equals the order is that of the plugins' kinds. Read once, when the plugin starts. */
    default int priority() {
        return 100;
    }
}
