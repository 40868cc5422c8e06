package org.nemorelay.broker;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.nemorelay.protocol.Fingerprint;

/** A worker of a route. The fields that requests touch are atomic; all others belong to the broker's lock. */
final class Worker {
    final Fingerprint fingerprint;
    final String id;
    final String endpoint;
    final Optional<String> tlsRootCertificate;
    final boolean acknowledgesDrain;
    final String generationId;
    final Optional<String> activationId;
    final AtomicInteger inFlight = new AtomicInteger();

    /** Read by the request that ends last. */
    volatile boolean draining;

    boolean connected = true;

    /** It has acknowledged the drain; for a worker that may not, the drain went out on an open connection. */
    boolean drainKnown;

    /** The token of the registration that waits for its probe; the worker's current one once published. */
    String dataToken;

    /** Which registration of this worker is the last. */
    long serial;

    /** Routable under its last registration. */
    boolean published;

    /** Since when a once published worker is not routable. */
    long unavailableSince;

    Worker(WorkerRegistration registration, String generationId, Optional<String> activationId, String dataToken) {
        this.fingerprint = registration.fingerprint();
        this.id = registration.workerId();
        this.endpoint = registration.endpoint();
        this.tlsRootCertificate = registration.tlsRootCertificate();
        this.acknowledgesDrain = registration.acknowledgesDrain();
        this.generationId = generationId;
        this.activationId = activationId;
        this.dataToken = dataToken;
    }

    boolean sameAs(WorkerRegistration registration) {
        return id.equals(registration.workerId())
                && endpoint.equals(registration.endpoint())
                && tlsRootCertificate.equals(registration.tlsRootCertificate());
    }

    /** Drain known, nothing in flight, control connection closed: the process is gone (relay-daemon 0.1). */
    boolean exited() {
        return drainKnown && !connected && inFlight.get() == 0;
    }
}
