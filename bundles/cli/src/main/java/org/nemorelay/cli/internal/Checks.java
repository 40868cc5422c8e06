package org.nemorelay.cli.internal;

import java.util.List;
import java.util.function.UnaryOperator;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * What option values may be, told apart before anything runs (relay-daemon 1.1, 1.4, 1.7). A check returns the value to
 * use; {@link FailureKind#INVALID_ARGUMENT} says which rule the value breaks.
 */
final class Checks {
    private Checks() {}

    static final UnaryOperator<String> ANY = value -> value;

    static final UnaryOperator<String> BIND = value -> {
        if (!value.equals("127.0.0.1") && !value.equals("0.0.0.0")) {
            throw refused("bind address must be 127.0.0.1 or 0.0.0.0");
        }
        return value;
    };

    static final UnaryOperator<String> PORT = value -> {
        long port = integer(value, "port must be between 1 and 65535");
        if (port == 0) {
            throw refused("an explicitly supplied port must be between 1 and 65535");
        }
        if (port < 0 || port > 65_535) {
            throw refused("port must be between 1 and 65535");
        }
        return Long.toString(port);
    };

    static final UnaryOperator<String> TOKEN_LIMIT = value -> {
        String rule = "the per-identity token limit must be an integer from 1 through 64";
        long limit = integer(value, rule);
        if (limit < 1 || limit > 64) {
            throw refused(rule);
        }
        return Long.toString(limit);
    };

    static final UnaryOperator<String> SWAPS = value -> {
        String rule = "a count is from 1 through 1000";
        long count = integer(value, rule);
        if (count < 1 || count > 1_000) {
            throw refused(rule);
        }
        return value;
    };

    static final UnaryOperator<String> BYTES = value -> {
        String rule = "the limit must be a positive integer";
        long bytes = integer(value, rule);
        if (bytes < 1) {
            throw refused(rule);
        }
        return Long.toString(bytes);
    };

    static final UnaryOperator<String> DAEMON = value -> DaemonUrl.parse(value).argument();

    static final List<String> LEVELS = List.of("error", "warn", "info", "debug", "trace");

    static final List<String> FORMATS = List.of("human", "jsonl");

    static UnaryOperator<String> oneOf(List<String> words) {
        return value -> {
            if (!words.contains(value)) {
                throw refused("[possible values: " + String.join(", ", words) + "]");
            }
            return value;
        };
    }

    private static long integer(String value, String rule) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw refused(rule);
        }
    }

    private static RelayException refused(String rule) {
        return new RelayException(FailureKind.INVALID_ARGUMENT, rule);
    }
}
