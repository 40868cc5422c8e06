package org.nemorelay.http.internal;

import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Optional;
import javax.net.ssl.SSLException;

/** What failed in a handshake, for the one who can mend it. */
final class TlsProblem {
    private TlsProblem() {}

    /** A clause for a sentence about the server; empty when the failure is none of TLS. */
    static Optional<String> of(Throwable failure) {
        Optional<String> known = Optional.empty();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            // What lies deeper is more telling.
            Optional<String> before = known;
            known = clause(cause, cause.getMessage() == null ? "" : cause.getMessage())
                    .or(() -> before);
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
                    default -> null;
                });
    }
}
