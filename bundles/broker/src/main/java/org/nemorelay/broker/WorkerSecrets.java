package org.nemorelay.broker;

/** Fresh random texts offered for a worker that registers: its generation and the token of its data plane. */
public record WorkerSecrets(String generationId, String dataToken) {
    @Override
    public String toString() {
        return "WorkerSecrets[" + generationId + "]";
    }
}
