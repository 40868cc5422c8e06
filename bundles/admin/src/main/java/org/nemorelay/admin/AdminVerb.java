package org.nemorelay.admin;

import java.util.Map;
import org.nemorelay.protocol.RelayException;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Something the owner can ask a running process for. Each service of this type is one verb of the socket; it comes and
 * goes with its service.
 *
 * <p>{@code status} of a daemon that stops answers {@code stopping} (an object: {@code pid}, {@code requests} that still run,
 * {@code seconds_left} for them), of any other {@code daemon} (an object), and {@code sessions}, {@code routes},
 * {@code workers} and {@code plugins} (arrays of objects of scalars), each a fact of its own: a session proves no worker.
 *
 * <p>{@code configuration} of a daemon answers {@code daemon} (an array of {@code name}, {@code value} as JSON or empty, and {@code
 * source}) and {@code workers} (an array of {@code worker_id} and such {@code settings}): what is in force, credentials hidden.
 */
@ConsumerType
public interface AdminVerb {
    /** The word in the request, such as {@code status}. */
    String name();

    /**
     * Answers one request; called from any thread, several at a time.
     *
     * @param arguments what the client sent; empty where it sent none
     * @return JSON values as {@link org.nemorelay.json.Json} writes them; never a secret
     * @throws RelayException for what the client is to be told
     */
    Map<String, Object> run(Map<String, Object> arguments);
}
