package org.nemorelay.protocol;

import java.math.BigInteger;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;

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

    /** The grant that the object holds; {@link JsonException} when it holds none. Other keys are ignored. */
    public static LaunchGrant of(JsonObject json) {
        return new LaunchGrant(
                json.string("activation_id"),
                json.string("activation_token"),
                json.unsigned64("deadline_unix_ms"),
                json.string("bind_ip"),
                (int) json.integer("port", 0, 0xffff),
                json.optionalString("advertise_address"));
    }

    /** The grant as JSON, keys in the order of the wire; with {@link Json#write} what goes to the worker's standard input. */
    public Map<String, Object> json() {
        return Json.object(
                "activation_id",
                activationId,
                "activation_token",
                activationToken,
                "deadline_unix_ms",
                new BigInteger(Long.toUnsignedString(deadlineUnixMs)),
                "bind_ip",
                bindIp,
                "port",
                port,
                "advertise_address",
                advertiseAddress.orElse(null));
    }

    @Override
    public String toString() {
        return "LaunchGrant[" + activationId + ", " + bindIp + ":" + port + "]";
    }
}
