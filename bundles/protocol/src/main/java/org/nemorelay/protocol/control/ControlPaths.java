package org.nemorelay.protocol.control;

/** Paths between the processes of the product (relay-daemon 2, 7). */
public final class ControlPaths {
    public static final String MCP = "/_nemo-relay/control/v1/mcp";
    public static final String WORKER = "/_nemo-relay/control/v1/worker";
    /** The daemon's probe of a worker. */
    public static final String WORKER_READY = "/_nemo-relay/worker/v1/ready";

    private ControlPaths() {}
}
