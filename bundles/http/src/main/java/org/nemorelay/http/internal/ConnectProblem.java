package org.nemorelay.http.internal;

import java.io.EOFException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.client.HttpResponseException;
import org.eclipse.jetty.http.HttpException;
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
                // The message is Jetty's: its own objects.
                case EOFException _, ClosedChannelException _ -> "it closed the connection without an answer";
                case HttpException _, HttpResponseException _ -> "its answer is no valid HTTP";
                default -> known;
            };
        }
        return ClientTls.problem(failure).orElse(known);
    }
}
