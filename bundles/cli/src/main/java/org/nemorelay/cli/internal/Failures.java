package org.nemorelay.cli.internal;

import org.nemorelay.protocol.RelayException;

/** How a failure reads on the command line: its category, then its line. */
public final class Failures {
    private Failures() {}

    public static String line(RelayException failure) {
        String kind = switch (failure.kind()) {
            case CONFIGURATION -> "configuration error";
            case STATE -> "state error";
            case UNAUTHORIZED, CREDENTIAL_REJECTED -> "unauthorized";
            case UNAVAILABLE, UPSTREAM -> "unavailable";
            case TIMEOUT -> "timeout";
            default -> "error";
        };
        return kind + ": " + failure.getMessage();
    }

    /** A defect of this program; its name and place are what a report needs. */
    public static String defect(RuntimeException defect) {
        StackTraceElement[] places = defect.getStackTrace();
        return ("internal error: " + defect + (places.length == 0 ? "" : " at " + places[0])).replace('\n', ' ');
    }
}
