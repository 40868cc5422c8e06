package org.nemorelay.seams.dial;

import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/** The backend's side of {@link BackendClient}, for carriers that lead to it themselves. */
@ConsumerType
@FunctionalInterface
public interface BackendService {
    /** Serves one call on a thread of its own: returning ends it well, {@link org.nemorelay.seams.RefusedException} is its status. */
    void serve(String method, Exchange exchange);

    /** The messages of one call. */
    interface Exchange {
        /** The next message from the client; empty when it sends no more. */
        Optional<byte[]> next();

        /** Sends one message; blocks while the client takes no more, throws {@link org.nemorelay.seams.CancelledException} once it has gone. */
        void send(byte[] message);
    }
}
