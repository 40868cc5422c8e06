package org.nemorelay.pipeline;

import java.util.List;
import org.nemorelay.plugin.api.EventMetadataInjector;
import org.nemorelay.plugin.api.EventSanitizer;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamIntercept;

/** The services around model requests and records that one request runs with, each list in its order. Immutable. */
public record Stages(
        List<Stage<RequestGuardrail>> guardrails,
        List<Stage<RequestIntercept>> intercepts,
        List<Stage<ExecutionIntercept>> executions,
        List<Stage<StreamIntercept>> streams,
        List<Stage<EventMetadataInjector>> injectors,
        List<Stage<EventSanitizer>> sanitizers) {
    /** Nobody. */
    public static final Stages NONE = new Stages(List.of(), List.of(), List.of(), List.of(), List.of(), List.of());

    public Stages {
        guardrails = Stage.sorted(guardrails);
        intercepts = Stage.sorted(intercepts);
        executions = Stage.sorted(executions);
        streams = Stage.sorted(streams);
        injectors = Stage.sorted(injectors);
        sanitizers = Stage.sorted(sanitizers);
    }

    /** Whether anybody may stop or change a request or its answer: without, both pass untouched. */
    public boolean act() {
        return !guardrails.isEmpty() || !intercepts.isEmpty() || answer();
    }

    /** Whether anybody may change the answer. */
    public boolean answer() {
        return !executions.isEmpty() || !streams.isEmpty();
    }

    /** Whether anybody reads the request's body. */
    public boolean needBody() {
        return needBody(guardrails) || needBody(intercepts) || needBody(executions) || needBody(streams);
    }

    private static boolean needBody(List<? extends Stage<?>> stages) {
        for (Stage<?> stage : stages) {
            if (stage.needsBody()) {
                return true;
            }
        }
        return false;
    }

    /** Whether anybody changes the record. */
    public boolean record() {
        return !injectors.isEmpty() || !sanitizers.isEmpty();
    }
}
