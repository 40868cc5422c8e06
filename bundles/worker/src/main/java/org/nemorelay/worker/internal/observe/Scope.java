package org.nemorelay.worker.internal.observe;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An open scope: what its start said and its end must repeat (plugins.md 1.4).
 *
 * @param propagationRoot the outermost scope of the tree it belongs to
 */
record Scope(
        String uuid,
        String parent,
        String propagationRoot,
        String name,
        String category,
        Map<String, Object> profile,
        Map<String, Object> metadata,
        List<String> attributes,
        java.time.Instant start) {

    /** The start's metadata with more laid over it. */
    Map<String, Object> metadataWith(Map<String, Object> more) {
        Map<String, Object> merged = new LinkedHashMap<>(metadata);
        merged.putAll(more);
        return merged;
    }
}
