package org.nemorelay.protocol;

/** Header names of the product, lower case (relay-daemon 6.1, 6.3, 6.5). */
public final class Headers {
    /** Every header of the product begins so; none reaches a provider. */
    public static final String PRIVATE_PREFIX = "x-nemo-relay-";

    public static final String CLIENT_TOKEN = "x-nemo-relay-client-token";
    public static final String WORKER_TOKEN = "x-nemo-relay-worker-token";
    public static final String UPSTREAM_BASE_URL = "x-nemo-relay-upstream-base-url";
    public static final String OPERATION_ID = "x-nemo-relay-operation-id";
    public static final String WORKER_ROUTE_FAILURE = "x-nemo-relay-worker-route-failure";

    private Headers() {}
}
