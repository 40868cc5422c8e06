package org.nemorelay.carrier.local.internal;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.control.Outcome;

/** A message on its way, with the caller that waits for a reply if there is one. */
record Delivery(Message message, Optional<CompletableFuture<byte[]>> reply) {
    void answer(Outcome outcome) {
        switch (outcome) {
            case Outcome.Reply answer -> reply.ifPresent(caller -> caller.complete(answer.body()));
            case Outcome.Undecodable answer -> reply.ifPresent(caller -> caller.complete(answer.body()));
            case Outcome.Silent silent -> {}
            case Outcome.Dropped dropped -> {}
        }
    }
}
