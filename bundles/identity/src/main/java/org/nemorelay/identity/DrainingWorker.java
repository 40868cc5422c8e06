package org.nemorelay.identity;

import org.nemorelay.protocol.Fingerprint;

/**
 * A worker that admits nothing any more, of whatever daemon process: nobody takes it back, and its user gets no other before
 * it has exited.
 *
 * @param endpoint where it serves what it has
 * @param untilUnixMs when it is not waited for any longer
 */
public record DrainingWorker(
        Fingerprint fingerprint, String generationId, String workerId, String endpoint, long untilUnixMs) {}
