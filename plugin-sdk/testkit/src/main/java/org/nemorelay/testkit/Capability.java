package org.nemorelay.testkit;

/** What carriers may differ in. A carrier declares what it has; what it lacks must fail, or be ignored, as said here. */
public enum Capability {
    /** A cancelled context enqueues nothing. Lacking: the context is ignored and the work is accepted. */
    ENQUEUE_HEEDS_CONTEXT,
    /** A cancelled context ends an agent call. Lacking: the call waits for its reply or its deadline. */
    AGENT_CALL_HEEDS_CANCELLATION,
    /** Each subscription has its own delivery thread. Lacking: a publisher runs the handlers. */
    OWN_DELIVERY_THREADS,
    /** Files go by way of a store. Lacking: staging to the store is {@code NotServedException}. */
    OBJECT_STORE,
    /** A backend and a server are found by their node. Lacking: by their address, whatever the node. */
    ROUTES_BY_NODE,
    /** The rig can cut the carrier's link. Lacking: a carrier without one that could break. */
    LINK_CAN_BREAK
}
