package org.nemorelay.it.process;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.ToolCall;

/** A policy without an opinion, for plugins whose matter is another; a jar takes it along. */
abstract class Allowing implements HookPolicy {
    @Override
    public CompletionStage<Decision> decide(ToolCall call) {
        return CompletableFuture.completedStage(Decision.allow());
    }
}
