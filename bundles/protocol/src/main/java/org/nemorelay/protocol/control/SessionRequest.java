package org.nemorelay.protocol.control;

import org.nemorelay.protocol.Digest;

/**
 * A command of an authenticated session (relay-daemon 3.4, 3.5).
 *
 * @param requestId 1..128 bytes, the same again when the same request is repeated
 * @param sequence unsigned; 1 after each registration, then one more each time
 */
public record SessionRequest(
        String sessionId,
        Secret sessionToken,
        String requestId,
        long sequence,
        Digest payloadSha256,
        SessionPayload payload) {

    public static SessionRequest of(
            String sessionId, Secret sessionToken, String requestId, long sequence, SessionPayload payload) {
        return new SessionRequest(sessionId, sessionToken, requestId, sequence, payload.sha256(), payload);
    }

    /** Whether the hash covers exactly this payload and the inner id is well-formed: false means 401. */
    public boolean intact() {
        return Wire.within(requestId, Wire.MAX_ID) && payloadSha256.equals(payload.sha256());
    }
}
