package org.nemorelay.seams.control;

/** One replica of a model at a node, as the table knows it; empty text for what it does not know. */
public record Replica(
        String modelName,
        int replicaIndex,
        String address,
        String configRevision,
        String operationId,
        String processInstance) {
    /** {@code modelID#replica}, the key of the worker's process. */
    public String processKey() {
        return modelName + "#" + replicaIndex;
    }
}
