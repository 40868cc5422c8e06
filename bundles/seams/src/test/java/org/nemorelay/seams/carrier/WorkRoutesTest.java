package org.nemorelay.seams.carrier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.UnservedSubjectException;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.carrier.WorkRoutes.Route;

class WorkRoutesTest {
    @Test
    void everyKindHasItsSubjectAndGroup() {
        WorkRoutes routes = WorkRoutes.standard();
        assertEquals(new Route("jobs.new", Optional.of("workers")), routes.of(WorkKind.TASK));
        assertEquals(new Route("jobs.mcp-ci.new", Optional.of("workers")), routes.of(WorkKind.MCP_CI));
        assertEquals(new Route("agent.execute", Optional.of("agent-workers")), routes.of(WorkKind.AGENT_RUN));
    }

    @Test
    void anEmptySubjectKeepsTheDefaultAndAnEmptyQueueIsAPlainSubscription() {
        WorkRoutes plain = WorkRoutes.standard().withAgentRunRoute("", "");
        assertEquals(new Route("agent.execute", Optional.empty()), plain.of(WorkKind.AGENT_RUN));
    }

    @Test
    void movesAgentRunsAloneAndOnlyWithinTheGrammar() {
        WorkRoutes moved = WorkRoutes.standard().withAgentRunRoute("agent.mine", "g");
        assertEquals(new Route("agent.mine", Optional.of("g")), moved.of(WorkKind.AGENT_RUN));
        assertEquals(WorkRoutes.standard().of(WorkKind.TASK), moved.of(WorkKind.TASK));
        assertThrows(UnservedSubjectException.class, () -> WorkRoutes.standard().withAgentRunRoute("elsewhere.x", ""));
    }
}
