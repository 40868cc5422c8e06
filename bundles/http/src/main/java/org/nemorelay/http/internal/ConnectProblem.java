package org.nemorelay.http.internal;

import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** Why there is no connection, for the one who can mend it. */
final class ConnectProblem {
    private ConnectProblem() {}

    /** A clause of one line for a sentence about the server. */
    static String of(Throwable failure) {
        String known = failure.getMessage() == null
                ? failure.getClass().getSimpleName()
                : failure.getMessage().lines().findFirst().orElse("");
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            // What lies deeper is more telling.
            known = clause(cause, cause.getMessage() == null ? "" : cause.getMessage())
                    .orElse(known);
        }
        return known;
    }

    private static Optional<String> clause(Throwable cause, String message) {
        return Optional.ofNullable(
                switch (cause) {
                    case CertificateExpiredException _ -> "its certificate has expired";
                    case CertificateNotYetValidException _ -> "its certificate is not valid yet";
                    case CertPathBuilderException _ ->
                        "no trusted authority vouches for its certificate; trust its authority in the system's store or"
                                + " by SSL_CERT_FILE";
                    case CertificateException _
                    when message.startsWith("No subject alternative") || message.startsWith("No name matching") ->
                        "its certificate is for another host name";
                    case CertificateException _ -> "its certificate is not acceptable";
                    case SSLException _
                    when message.contains("nrecognized SSL message") -> "it does not speak TLS on this port";
                    case SSLException _ ->
                        "the TLS handshake failed ("
                                + message.lines().findFirst().orElse("no reason given") + ")";
                    case UnknownHostException _ -> "its host name is unknown";
                    case TimeoutException _, SocketTimeoutException _ ->
                        "it did not answer within " + UpstreamClient.CONNECT_TIMEOUT.toSeconds() + " s";
                    default -> null;
                });
    }
}
