package org.nemorelay.protocol;

/** What the broker tells an MCP process to do (relay-daemon 3.6). */
public sealed interface Directive {
    /** A worker serves the route. */
    record ReuseWorker(String endpoint) implements Directive {}

    /** Another process is starting or draining one. */
    record WaitForWorker(long retryAfterMs) implements Directive {}

    /** Start a worker with this grant. */
    record LaunchWorker(LaunchGrant grant) implements Directive {}

    /** Requests go to the provider directly. */
    record UsePassThrough() implements Directive {}
}
