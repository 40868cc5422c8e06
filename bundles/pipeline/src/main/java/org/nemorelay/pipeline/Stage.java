package org.nemorelay.pipeline;

import java.util.Comparator;
import java.util.List;

/**
 * A plugin's service in the pipeline.
 *
 * @param <S> the service's type
 * @param needsBody whether it reads the request's body
 */
public record Stage<S>(S service, Share share, int priority, boolean needsBody) {
    /** The plugin's name. */
    public String plugin() {
        return share.plugin();
    }

    /** In the order in which they run. */
    static <S> List<Stage<S>> sorted(List<Stage<S>> stages) {
        return stages.stream()
                .sorted(Comparator.<Stage<S>>comparingInt(Stage::priority).thenComparing(Stage::plugin))
                .toList();
    }
}
