package org.nemorelay.seams.carrier;

import java.time.Duration;
import java.util.function.Consumer;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Subscription;
import org.osgi.annotation.versioning.ConsumerType;

/** Request and reply as a bus has them; what turns it into the seams is here, once for all carriers. */
@ConsumerType
public interface Exchange {
    /**
     * Sends and waits for the reply.
     *
     * @param context a carrier may ignore its cancellation; its deadline is already part of {@code bound}
     * @param bound positive
     * @throws org.nemorelay.seams.NoRouteException when the transport says that nobody listens
     * @throws org.nemorelay.seams.TimedOutException when {@code bound} has passed
     * @throws org.nemorelay.seams.AbsentException while the link is down
     */
    byte[] request(Context context, String subject, byte[] body, Duration bound);

    /** Sends, without anybody answering. */
    void post(String subject, byte[] body);

    /** Hears what is posted on a subject. */
    Subscription listen(String subject, Consumer<byte[]> handler);
}
