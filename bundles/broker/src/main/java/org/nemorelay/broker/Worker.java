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

    /**
     * It has acknowledged the drain on the connection that it has or closed itself; for a worker that may not, the drain went
     * out there.
     */
    boolean drainKnown;

    /** It said that it leaves, and takes what is under way to it until it hears that nothing is. */
    boolean leaving;

    /** Its process has ended, as somebody saw who can tell. */
    boolean ended;

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

    /**
     * The process is gone: drain known, nothing in flight, control connection closed (relay-daemon 0.1). One that died before
     * it knew is gone when its end was seen.
     */
    boolean exited() {
        return (drainKnown || ended) && !connected && inFlight.get() == 0;
    }
}
