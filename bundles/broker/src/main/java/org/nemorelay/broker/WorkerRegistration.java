package org.nemorelay.broker;

import java.util.Optional;
import org.nemorelay.protocol.Fingerprint;

/**
 * What a worker says about itself when it registers or recovers; proofs are already checked.
 *
 * @param endpoint origin with explicit port (relay-daemon 5.6)
 * @param tlsRootCertificate base64url of the DER
 * @param acknowledgesDrain whether it acknowledges a drain before it closes its control connection; the stock worker may
 *     close without
 */
public record WorkerRegistration(
        Fingerprint fingerprint,
        String workerId,
        String endpoint,
        Optional<String> tlsRootCertificate,
        boolean acknowledgesDrain) {}
