package org.nemorelay.worker.internal.observe;

import java.util.Map;

/**
 * A recorded model request between its start and its end. Owned by the dispatcher thread.
 *
 * @param headOnly whether the record has no body of the request
 */
record ModelCall(ModelApi api, Session session, Scope scope, Map<String, Object> metadata, boolean headOnly) {
    /** One call is itself and no other, whatever it says. */
    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
