package org.nemorelay.hook.internal;

import java.io.FileInputStream;
import java.io.IOException;
import org.nemorelay.hook.internal.Exchange.Connection;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.ListenerProof;
import org.nemorelay.protocol.RouteToken;

/** Asks a listener to prove on this connection that it knows the user's token, without telling it. */
final class Listener {
    private Listener() {}

    /** Why the listener is not trusted; empty when it has proven itself. */
    static String doubt(Connection connection, DaemonUrl daemon, RouteToken token) throws IOException {
        byte[] nonce = nonce();
        Answer answer;
        try {
            connection.get(
                    ListenerProof.PATH,
                    daemon,
                    ListenerProof.NONCE_HEADER,
                    ListenerProof.text(nonce),
                    ListenerProof.TOKEN_HEADER,
                    ListenerProof.text(ListenerProof.tokenDigest(token.text())));
            answer = Answer.read(connection.in());
        } catch (IOException e) {
            return "it does not answer when asked for a proof (" + Exchange.text(e) + ")";
        } catch (HookFailure e) {
            return "it gives no proof";
        }
        if (answer.status() == 403) {
            return "it does not know this client token";
        }
        if (answer.status() != 200) {
            return "it offers no proof (status " + answer.status() + ")";
        }
        String origin = ListenerProof.origin(
                connection.socket().getInetAddress(), connection.socket().getPort());
        return ListenerProof.proves(answer.body(), token.text(), nonce, origin) ? "" : "its proof is wrong";
    }

    /** From the system itself: the runtime's secure random would cost more than the rest of the proof. */
    private static byte[] nonce() throws IOException {
        try (FileInputStream random = new FileInputStream("/dev/urandom")) {
            byte[] nonce = random.readNBytes(ListenerProof.NONCE_LENGTH);
            if (nonce.length < ListenerProof.NONCE_LENGTH) {
                throw new IOException("/dev/urandom ended early");
            }
            return nonce;
        }
    }
}
