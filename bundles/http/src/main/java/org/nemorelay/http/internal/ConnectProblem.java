package org.nemorelay.http.internal;

import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.protocol.Reasons;

/** Why there is no connection, for the one who can mend it. */
final class ConnectProblem {
    private ConnectProblem() {}

    /** A clause of one line for a sentence about the server. */
    static String of(Throwable failure) {
        return of(failure, UpstreamClient.CONNECT_TIMEOUT.toSeconds());
    }

    /** The same where the server had another time to answer. */
    static String of(Throwable failure, long seconds) {
        String known = Reasons.of(failure);
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            // What lies deeper is more telling.
            known = switch (cause) {
                case UnknownHostException _ -> "its host name is unknown";
                case TimeoutException _, SocketTimeoutException _ -> "it did not answer within " + seconds + " s";
                default -> known;
            };
        }
        return ClientTls.problem(failure).orElse(known);
    }
}
