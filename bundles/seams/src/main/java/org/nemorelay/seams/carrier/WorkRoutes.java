package org.nemorelay.seams.carrier;

import java.util.Optional;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.WorkKind;

/** The one place where a kind of work becomes a subject and a queue group (distributed-seams 3.1). */
public record WorkRoutes(Route agentRun) {
    /** @param group consumers that share the work; empty: every consumer gets everything */
    public record Route(String subject, Optional<String> group) {}

    /** The routes that peers of this product and LocalAI use. */
    public static WorkRoutes standard() {
        return new WorkRoutes(new Route(Subjects.agentExecute(), Optional.of("agent-workers")));
    }

    /**
     * Moves the agent runs of a consumer. An empty subject keeps {@code agent.execute}; an empty queue is kept and makes a
     * plain subscription, where every agent worker runs every job. Producers stay where they are.
     *
     * @throws org.nemorelay.seams.SubjectException for a subject outside the grammar
     */
    public WorkRoutes withAgentRunRoute(String subject, String queue) {
        String kept = subject.isEmpty() ? Subjects.agentExecute() : subject;
        Subjects.validate(kept);
        return new WorkRoutes(new Route(kept, Optional.of(queue).filter(text -> !text.isEmpty())));
    }

    public Route of(WorkKind kind) {
        return switch (kind) {
            case TASK -> new Route(Subjects.jobsNew(), Optional.of("workers"));
            case MCP_CI -> new Route(Subjects.jobsMcpCiNew(), Optional.of("workers"));
            case AGENT_RUN -> agentRun;
        };
    }
}
