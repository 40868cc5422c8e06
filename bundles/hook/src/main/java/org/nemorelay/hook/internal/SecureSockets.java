package org.nemorelay.hook.internal;

import java.io.IOException;
import java.net.Socket;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.nemorelay.protocol.DaemonUrl;

/** TLS to a remote daemon; a class of its own, so that the local case loads nothing of it. */
final class SecureSockets {
    private SecureSockets() {}

    /** The connection inside TLS, after the handshake; the certificate must be valid for the daemon's host. */
    static Socket over(Socket socket, DaemonUrl daemon) throws IOException {
        SSLSocket secure = (SSLSocket) ((SSLSocketFactory) SSLSocketFactory.getDefault())
                .createSocket(socket, daemon.hostName(), daemon.port(), true);
        SSLParameters parameters = secure.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secure.setSSLParameters(parameters);
        secure.startHandshake();
        return secure;
    }
}
