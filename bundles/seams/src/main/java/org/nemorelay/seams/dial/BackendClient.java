package org.nemorelay.seams.dial;

import java.util.Optional;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Registration;
import org.osgi.annotation.versioning.ProviderType;

/**
 * A connection to one backend process, at the level of encoded messages of the service {@code backend.Backend}. Failures:
 * {@link org.nemorelay.seams.UnreachableException} (also a lost connection), {@link org.nemorelay.seams.TimedOutException},
 * {@link org.nemorelay.seams.RefusedException} with the status name for every other answer. Safe for any thread. Closing
 * ends running calls.
 */
@ProviderType
public interface BackendClient extends Registration {
    /** One request, one reply. */
    byte[] call(Context context, String method, byte[] request);

    /** Opens a call with streams in either or both ways. */
    Call open(Context context, String method);

    /** A running call. One thread sends, one receives. */
    @ProviderType
    interface Call extends Registration {
        /** Sends one message; blocks while the peer takes no more. */
        void send(byte[] message);

        /** Says that nothing more comes from this side. */
        void halfClose();

        /** The next message; empty at the orderly end. */
        Optional<byte[]> next();

        /** Cancels what is still running. */
        @Override
        void close();
    }
}
