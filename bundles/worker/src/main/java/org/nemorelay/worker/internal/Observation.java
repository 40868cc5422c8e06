package org.nemorelay.worker.internal;

import org.eclipse.jetty.http.HttpFields;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.protocol.HookAgent;

/** Where the data plane tells of traffic. No call blocks. */
interface Observation {
    /** A hook, before it is answered. */
    void hook(HookAgent agent, byte[] payload);

    /** What sees a provider request that is about to be sent on; {@link ExchangeListener#NONE} when nobody records it. */
    ExchangeListener exchange(String path, HttpFields headers);
}
