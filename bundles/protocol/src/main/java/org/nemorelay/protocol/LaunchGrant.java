package org.nemorelay.protocol;

import java.util.Optional;

/**
 * The one-time right to start a worker (relay-daemon 5.6, 7): what a {@code launch_worker} directive carries and what
 * the MCP process writes to the worker's standard input.
 *
 * @param deadlineUnixMs unsigned milliseconds; all 64 bits set means none
 * @param bindIp {@code 127.0.0.1} or {@code 0.0.0.0}
 * @param port 0 for any
 */
public record LaunchGrant(
        String activationId,
        String activationToken,
        long deadlineUnixMs,
        String bindIp,
        int port,
        Optional<String> advertiseAddress) {

    /** {@code deadline_unix_ms} of a grant without a deadline. */
    public static final long NO_DEADLINE = -1L;

    @Override
    public String toString() {
        return "LaunchGrant[" + activationId + ", " + bindIp + ":" + port + "]";
    }
}
