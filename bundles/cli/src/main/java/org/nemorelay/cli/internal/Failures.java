package org.nemorelay.cli.internal;

import org.nemorelay.protocol.RelayException;

/** How a failure reads on the command line: its category, then its line. */
public final class Failures {
    private Failures() {}

    public static String line(RelayException failure) {
        String kind = switch (failure.kind()) {
            case CONFIGURATION -> "configuration error";
            case STATE -> "state error";
            case LAUNCH -> "launcher error";
            case UNAUTHORIZED, CREDENTIAL_REJECTED -> "unauthorized";
            case UNAVAILABLE, UPSTREAM -> "unavailable";
            case TIMEOUT -> "timeout";
            default -> "error";
        };
        return kind + ": " + failure.getMessage();
    }
}
