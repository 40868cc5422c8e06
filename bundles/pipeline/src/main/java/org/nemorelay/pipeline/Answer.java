package org.nemorelay.pipeline;

import java.util.concurrent.CompletionStage;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelRequest;

/**
 * The head of an answer and where its body comes from: a provider's to the pipeline, and the pipeline's to the agent.
 *
 * @param headers without what belongs to the connection; {@code content-length} where it is known
 */
public record Answer(int status, HeaderMap headers, ByteSource body) {
    /** Sends requests to the provider. */
    @FunctionalInterface
    public interface Provider {
        /** Completes when the head is here, exceptionally where there is none; on any thread. */
        CompletionStage<Answer> send(ModelRequest request);
    }
}
