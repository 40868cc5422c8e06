package org.nemorelay.hook.internal;

import java.io.IOException;
import java.net.Socket;
import java.util.Map;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.RelayException;

/** TLS to a remote daemon; a class of its own, so that the local case loads nothing of it. */
final class SecureSockets {
    private SecureSockets() {}

    /** The connection inside TLS, after the handshake; the certificate must be valid for the daemon's host. */
    static Socket over(Socket socket, DaemonUrl daemon, Map<String, String> environment) throws IOException {
        try {
            return new ClientTls(environment).over(socket, daemon.hostName(), daemon.port());
        } catch (RelayException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
