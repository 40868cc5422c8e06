package org.nemorelay.broker;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * One request's hold on a worker: counted in flight until {@link #release}. Safe for any thread.
 */
public final class WorkerLease implements Resolution {
    private static final AtomicIntegerFieldUpdater<WorkerLease> RELEASED =
            AtomicIntegerFieldUpdater.newUpdater(WorkerLease.class, "released");

    private final Target target;
    private volatile int released;

    WorkerLease(Target target) {
        this.target = target;
    }

    public String workerId() {
        return target.worker.id;
    }

    /** Origin of the worker. */
    public String endpoint() {
        return target.worker.endpoint;
    }

    /** base64url of the DER of the only root that the worker's certificate may have; empty in cleartext. */
    public Optional<String> tlsRootCertificate() {
        return target.worker.tlsRootCertificate;
    }

    /** The secret that the worker asks for. */
    public String dataToken() {
        return target.dataToken;
    }

    public String generationId() {
        return target.worker.generationId;
    }

    Target target() {
        return target;
    }

    /** Ends the hold, once however often it is called. True when it was the last one of a draining worker: then {@link Broker#drainProgress} is due. */
    public boolean release() {
        return RELEASED.compareAndSet(this, 0, 1)
                && target.worker.inFlight.decrementAndGet() == 0
                && target.worker.draining;
    }

    @Override
    public String toString() {
        return "WorkerLease[" + workerId() + "]";
    }
}
