package org.nemorelay.identity;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * The client's side of TLS to a daemon (relay-daemon 1.7): its certificate must be valid for its host, and one of the
 * {@link TrustedAuthorities} must vouch for it. Cheap until the first connection, which reads them. Safe for any thread.
 */
public final class ClientTls {
    private final Map<String, String> environment;

    // Guarded by this.
    private Optional<SSLContext> context = Optional.empty();

    /** @param environment may hold {@code SSL_CERT_FILE} and {@code SSL_CERT_DIR} */
    public ClientTls(Map<String, String> environment) {
        this.environment = environment;
    }

    /**
     * The connection inside TLS, after the handshake; closing it closes the connection.
     *
     * @param host a name or an address, without brackets
     * @param protocols offered by ALPN; none to offer nothing
     * @throws IOException with a message that says what is wrong with the certificate
     * @throws org.nemorelay.protocol.RelayException CONFIGURATION when the environment names nothing that can be trusted
     */
    public SSLSocket over(Socket socket, String host, int port, String... protocols) throws IOException {
        SSLSocket secure = (SSLSocket) context().getSocketFactory().createSocket(socket, host, port, true);
        SSLParameters parameters = secure.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        parameters.setApplicationProtocols(protocols);
        secure.setSSLParameters(parameters);
        try {
            secure.startHandshake();
        } catch (SSLException e) {
            throw new IOException(problem(e).orElse(e.getMessage()), e);
        }
        return secure;
    }

    /** What is wrong with a server, as a clause about it, where the failure of a handshake tells. */
    public static Optional<String> problem(Throwable failure) {
        Optional<String> known = Optional.empty();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            // What lies deeper is more telling.
            Optional<String> deeper = clause(cause, cause.getMessage() == null ? "" : cause.getMessage());
            known = deeper.isPresent() ? deeper : known;
        }
        return known;
    }

    private static Optional<String> clause(Throwable cause, String message) {
        if (cause instanceof CertificateExpiredException) {
            return Optional.of("its certificate has expired");
        }
        if (cause instanceof CertificateNotYetValidException) {
            return Optional.of("its certificate is not valid yet");
        }
        if (cause instanceof CertPathBuilderException) {
            return Optional.of("no trusted authority vouches for its certificate; trust its authority in the system's"
                    + " store or by SSL_CERT_FILE");
        }
        if (cause instanceof CertificateException) {
            boolean name = message.startsWith("No subject alternative") || message.startsWith("No name matching");
            return Optional.of(name ? "its certificate is for another host name" : "its certificate is not acceptable");
        }
        if (cause instanceof SSLException) {
            return Optional.of(
                    message.contains("nrecognized SSL message")
                            ? "it does not speak TLS on this port"
                            : "the TLS handshake failed ("
                                    + message.lines().findFirst().orElse("no reason given") + ")");
        }
        return Optional.empty();
    }

    private synchronized SSLContext context() {
        if (context.isEmpty()) {
            // Null stands for Java's own authorities.
            KeyStore trusted = TrustedAuthorities.read(environment).orElse(null);
            try {
                TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
                factory.init(trusted);
                X509ExtendedTrustManager java = (X509ExtendedTrustManager) factory.getTrustManagers()[0];
                SSLContext made = SSLContext.getInstance("TLS");
                made.init(null, new TrustManager[] {new StrictTrust(java)}, null);
                context = Optional.of(made);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every Java runtime has TLS", e);
            }
        }
        return context.get();
    }
}
