package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.workerctl.BackendStopReply;
import org.nemorelay.workerctl.BackendStopRequest;

class CallCarrierTest {
    private static final byte[] JOB = bytes("{\"job_id\":\"j\"}");

    private final CallCarrier carrier = new CallCarrier();

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void openItem9_theTerminalAnswerIsTheResultThatWasPublished() {
        carrier.workConsumer().consume(Context.background(), WorkKind.MCP_CI, 1, (context, payload, events) -> {
            events.publish(Subjects.jobProgress("j"), bytes("p"));
            events.publish(Subjects.jobResult("other"), bytes("not mine"));
            events.publish(Subjects.jobResult("j"), bytes("done"));
        });
        assertEquals("done", new String(carrier.work(WorkKind.MCP_CI, JOB), StandardCharsets.UTF_8));
    }

    @Test
    void openItem9_aMissingOrSecondResultIsAFailure() {
        carrier.workConsumer().consume(Context.background(), WorkKind.MCP_CI, 1, (context, payload, events) -> {});
        assertThrows(RefusedException.class, () -> carrier.work(WorkKind.MCP_CI, JOB));
        carrier.workConsumer().consume(Context.background(), WorkKind.TASK, 1, (context, payload, events) -> {
            events.publish(Subjects.jobResult("j"), bytes("one"));
            events.publish(Subjects.jobResult("j"), bytes("two"));
        });
        assertThrows(RefusedException.class, () -> carrier.work(WorkKind.TASK, JOB));
        assertThrows(NoRouteException.class, () -> carrier.work(WorkKind.AGENT_RUN, JOB));
    }

    @Test
    void openItem11_whatCannotBeDecodedIsToldBesideTheTypedRefusal() {
        carrier.controlServer("n")
                .handle(
                        ControlVerb.BACKEND_STOP,
                        Need.MANDATORY,
                        ControlHandler.unary(
                                BackendStopRequest::decode,
                                BackendStopReply::refused,
                                (context, request) -> new BackendStopReply(true, "", java.util.List.of(), true)));
        CallCarrier.Answer good = carrier.control("n", ControlVerb.BACKEND_STOP, bytes("{\"backend\":\"x\"}"));
        assertEquals(200, good.status());
        CallCarrier.Answer bad = carrier.control("n", ControlVerb.BACKEND_STOP, bytes("nonsense"));
        assertEquals(400, bad.status());
        BackendStopReply refusal = BackendStopReply.decode(bad.body());
        assertTrue(refusal.error().startsWith("invalid request: "), refusal.error());
    }
}
