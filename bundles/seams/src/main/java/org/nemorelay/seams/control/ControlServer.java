package org.nemorelay.seams.control;

import org.nemorelay.seams.Registration;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The worker's half of the control verbs, for one node (distributed-seams 4.4). Requests of different verbs overlap.
 * Handlers get a context that no caller can cancel. Closing stops every verb of this server and waits for its running
 * handlers. Pinned by {@code ControlServerConformance}.
 */
@ProviderType
public interface ControlServer extends Registration {
    /** What becomes of the start when the carrier has no place for a verb. */
    enum Need {
        /** {@link org.nemorelay.seams.NotServedException}, {@code serving <verb>: ...}, which ends the start. */
        MANDATORY,
        /** The verb is left out on this carrier, and the result says so. */
        OPTIONAL
    }

    /**
     * Serves the verb, one request at a time. A fault of the program in the handler stops the verb, is reported once and
     * ends the process.
     *
     * @return whether the verb is served
     */
    boolean handle(ControlVerb verb, Need need, ControlHandler handler);

    /**
     * Serves the verb with a thread per request and progress on the node's install-progress subject. A fault of the program
     * is caught, counted and logged; the caller gets a refusal.
     *
     * @return whether the verb is served
     */
    boolean handleWithProgress(ControlVerb verb, Need need, ControlHandler handler);
}
