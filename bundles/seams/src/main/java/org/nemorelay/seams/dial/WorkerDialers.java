package org.nemorelay.seams.dial;

import java.nio.channels.ByteChannel;
import org.nemorelay.seams.Context;
import org.osgi.annotation.versioning.ProviderType;

/** How to reach a worker's own server, per node: two nodes may report the same address (distributed-seams 7). */
@ProviderType
public interface WorkerDialers {
    /** @throws org.nemorelay.seams.NoDialerException when there is none for this node */
    Dialer dialerFor(String nodeId);

    /** Closes what is open to the node and forgets it. A node that comes back is dialled anew. */
    void forgetNode(String nodeId);

    /** Dials one node. */
    @ProviderType
    interface Dialer {
        /**
         * A new connection, for the caller to close.
         *
         * @throws org.nemorelay.seams.UnreachableException when the worker cannot be reached
         */
        ByteChannel dial(Context context, String address);

        /** Whether it dials the address it is handed. Only then may a proxy of the environment stand in between. */
        boolean direct();
    }
}
