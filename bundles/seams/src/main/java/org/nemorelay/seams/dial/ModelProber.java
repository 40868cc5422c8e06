package org.nemorelay.seams.dial;

import org.nemorelay.seams.Context;
import org.osgi.annotation.versioning.ProviderType;

/** Whether a backend process lives (distributed-seams 7). Pinned by {@code DialConformance}. */
@ProviderType
@FunctionalInterface
public interface ModelProber {
    /** What a probe of at most one second found. */
    enum Finding {
        /** It answered that it is healthy. */
        ALIVE,
        /** It took the call and did not answer in time, or answered with another status: proof of life. */
        BUSY,
        /** It could not be reached, or said that it is unhealthy. Not a verdict about the node. */
        UNREACHABLE
    }

    /** What is no finding about the process, such as no dialer or our own link, is thrown as it is. */
    Finding probe(Context context, String nodeId, String address);
}
