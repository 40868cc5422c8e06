package org.nemorelay.worker.internal;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.RelayException;

/** Reads the one-time grant that the MCP process writes to a worker's standard input (relay-daemon 7). Stateless. */
final class GrantReader {
    private static final int LIMIT = 256 * 1024;

    private GrantReader() {}

    /**
     * Reads to the end of {@code input}; waits for it.
     *
     * @throws RelayException UNAUTHORIZED for no grant, one that cannot be read, or one for another command line
     */
    static LaunchGrant read(InputStream input, String bind, int port, Optional<String> advertiseAddress) {
        LaunchGrant grant = parse(input);
        if (!grant.bindIp().equals(bind)
                || grant.port() != port
                || !grant.advertiseAddress().equals(advertiseAddress)) {
            throw unauthorized("the activation grant on standard input is for another bind address, port or"
                    + " advertised address than the command line names");
        }
        return grant;
    }

    private static LaunchGrant parse(InputStream input) {
        byte[] bytes;
        try {
            bytes = input.readNBytes(LIMIT + 1);
        } catch (IOException e) {
            throw new RelayException(
                    FailureKind.UNAUTHORIZED,
                    "the activation grant on standard input cannot be read: " + e.getMessage(),
                    e);
        }
        if (bytes.length == 0) {
            throw unauthorized("daemon worker requires a protected activation grant on standard input; a worker is"
                    + " started by `nemo-relay daemon mcp`, not by hand");
        }
        if (bytes.length > LIMIT) {
            throw unauthorized("the activation grant on standard input is longer than " + LIMIT + " bytes");
        }
        try {
            return LaunchGrant.of(Json.parseObject(bytes));
        } catch (JsonException e) {
            // The parser's message may quote the text, which holds the activation token.
            throw unauthorized("the activation grant on standard input is not a valid grant");
        }
    }

    private static RelayException unauthorized(String message) {
        return new RelayException(FailureKind.UNAUTHORIZED, message);
    }
}
