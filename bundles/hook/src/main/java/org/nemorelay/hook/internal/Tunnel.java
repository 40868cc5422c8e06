package org.nemorelay.hook.internal;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.nemorelay.hook.internal.Exchange.Connection;
import org.nemorelay.identity.HookCertificates;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.RelayException;

/**
 * TLS 1.3 on a connection to a daemon on this machine, whose certificate must be one that the user trusts, byte by byte
 * (relay-daemon 0.1). For daemons that do not know the token, and for those of other makers.
 */
final class Tunnel {
    private static final String[] PROTOCOLS = {"TLSv1.3"};
    private static final String SERVER_NAME = "localhost";

    private Tunnel() {}

    /**
     * Opens it on a new connection.
     *
     * @param doubt why the listener is not trusted without it, for the failure's line
     */
    static Connection open(DaemonUrl daemon, Map<String, String> environment, String doubt) throws HookFailure {
        HookCertificates trusted;
        try {
            trusted = HookCertificates.read(
                    environment,
                    Optional.ofNullable(System.getProperty("nemorelay.home")).map(Path::of));
        } catch (RelayException e) {
            throw refused(daemon, doubt, e.getMessage());
        }
        if (trusted.isEmpty()) {
            StringBuilder places = new StringBuilder("no certificate of a daemon is known, neither from ");
            List<Path> looked = trusted.looked();
            for (int i = 0; i < looked.size(); i++) {
                places.append(i == 0 ? "" : " nor from ").append(looked.get(i));
            }
            throw refused(daemon, doubt, places.toString());
        }
        try {
            Connection connection = Exchange.connect(daemon);
            try {
                return connection.over(handshake(connection, daemon, trusted));
            } catch (IOException e) {
                connection.close();
                throw e;
            }
        } catch (IOException e) {
            throw refused(daemon, doubt, "it cannot be reached through its TLS tunnel: " + Exchange.text(e));
        }
    }

    private static Socket handshake(Connection connection, DaemonUrl daemon, HookCertificates trusted)
            throws IOException {
        byte[] nonce = new byte[32]; // Nobody checks it; TLS brings its own.
        ThreadLocalRandom.current().nextBytes(nonce);
        connection.get(
                "/bootstrap/tunnel",
                daemon,
                "X-NeMo-Relay-Bootstrap-Fingerprint",
                "daemon",
                "X-NeMo-Relay-Bootstrap-Nonce",
                HexFormat.of().formatHex(nonce),
                "Connection",
                "upgrade",
                "Upgrade",
                "nemo-relay-tls");
        int status = Answer.head(connection.in()).status();
        if (status != 101) {
            throw new IOException("it answers with status " + status);
        }
        SSLSocket tls;
        try {
            SSLContext context = SSLContext.getInstance(PROTOCOLS[0]);
            context.init(null, new TrustManager[] {new Pinned(trusted)}, null);
            tls = (SSLSocket)
                    context.getSocketFactory().createSocket(connection.socket(), SERVER_NAME, daemon.port(), true);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java runtime has TLS 1.3", e);
        }
        SSLParameters parameters = tls.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setServerNames(List.of(new SNIHostName(SERVER_NAME)));
        tls.setSSLParameters(parameters);
        tls.startHandshake();
        return tls;
    }

    private static HookFailure refused(DaemonUrl daemon, String doubt, String why) {
        return HookFailure.delivery("the listener at " + daemon
                + " is not known to be this user's daemon, so nothing was" + " sent to it: " + doubt + ", and " + why);
    }

    /** Only the bytes of the certificate count; the handshake itself shows that the other side has its key. */
    private static final class Pinned extends X509ExtendedTrustManager {
        private final HookCertificates trusted;

        Pinned(HookCertificates trusted) {
            this.trusted = trusted;
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            if (!trusted.trusts(chain[0].getEncoded())) {
                throw new CertificateException("its certificate is not one that this user trusts");
            }
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            checkServerTrusted(chain, type);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            checkServerTrusted(chain, type);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            throw new CertificateException("a hook serves nobody");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            checkClientTrusted(chain, type);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            checkClientTrusted(chain, type);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
