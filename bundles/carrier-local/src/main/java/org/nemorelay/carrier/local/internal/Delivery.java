package org.nemorelay.carrier.local.internal;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.nemorelay.seams.Message;

/** A message on its way, with the caller that waits for a reply if there is one. */
record Delivery(Message message, Optional<CompletableFuture<byte[]>> reply) {
    void answer(byte[] body) {
        reply.ifPresent(caller -> caller.complete(body));
    }
}
