package org.nemorelay.it.faults;

/** A process of the relay's surroundings that may be killed. */
enum Victim {
    DAEMON,
    MCP,
    WORKER,
    HARNESS,
    PROVIDER
}
