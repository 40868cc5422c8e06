package org.nemorelay.worker.internal;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.worker.internal.hook.HookPayload;

/** Where the data plane tells of traffic. No call blocks. */
interface Observation {
    /**
     * A hook, before it is answered.
     *
     * @param bytes of its payload
     * @param ruling what policies say to it
     * @return completes, within two seconds and without failure, when the hook may be answered: an agent may read its
     *     records as soon as it has the answer
     */
    CompletableFuture<Void> hook(HookPayload hook, int bytes, Ruling ruling);

    /**
     * What sees a provider request that is about to be sent on; {@link ExchangeListener#NONE} when nobody records it.
     *
     * @param headers asked for at once, where somebody does
     * @param body plain, where it was read already
     */
    ExchangeListener exchange(String path, Supplier<HttpFields> headers, Optional<byte[]> body);

    /**
     * A provider request that plugins did not let pass.
     *
     * @param checks what guardrails said
     */
    void refused(String path, HttpFields headers, Optional<byte[]> body, List<Clearance.Check> checks);
}
