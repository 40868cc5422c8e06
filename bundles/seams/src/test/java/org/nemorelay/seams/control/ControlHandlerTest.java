package org.nemorelay.seams.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.Context;
import org.nemorelay.workerctl.BackendInstallProgressEvent;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;
import org.nemorelay.workerctl.ModelsRunningReply;
import org.nemorelay.workerctl.WireRecord;

class ControlHandlerTest {
    private static final byte[] JUNK = "{".getBytes(StandardCharsets.UTF_8);

    private final List<BackendInstallProgressEvent> reported = new ArrayList<>();

    private Outcome run(ControlHandler handler, byte[] body) {
        return handler.handle(Context.background(), body, reported::add);
    }

    private static String text(byte[] body) {
        return new String(body, StandardCharsets.UTF_8);
    }

    @Test
    void anUndecodableBodyIsAnsweredWithTheVerbsRefusalAndSaidOutOfBand() {
        Outcome outcome = run(
                ControlHandler.unary(
                        BackendInstallRequest::decode,
                        BackendInstallReply::refused,
                        (context, request) -> BackendInstallReply.refused("never")),
                JUNK);
        Outcome.Undecodable undecodable = assertInstanceOf(Outcome.Undecodable.class, outcome);
        assertTrue(
                text(undecodable.body()).startsWith("{\"success\":false,\"error\":\"invalid request: "),
                text(undecodable.body()));
    }

    @Test
    void progressIsReportedOnTheWayToTheReply() {
        BackendInstallProgressEvent half = new BackendInstallProgressEvent("op", "n", "b", "", "", "", 50, "");
        Outcome outcome = run(
                ControlHandler.withProgress(
                        BackendInstallRequest::decode, BackendInstallReply::refused, (context, request, progress) -> {
                            progress.report(half);
                            return new BackendInstallReply(true, "h:1", "", "", false);
                        }),
                BackendInstallRequest.of("b", "m", 0).encode());
        assertEquals("{\"success\":true,\"address\":\"h:1\"}", text(((Outcome.Reply) outcome).body()));
        assertEquals(List.of(half), reported);
    }

    @Test
    void aBodyThatIsIgnoredMayBeAnything() {
        Outcome outcome = run(ControlHandler.unary(context -> new ModelsRunningReply(List.of(), "", true)), JUNK);
        assertEquals("{\"models\":[],\"reports_operations\":true}", text(((Outcome.Reply) outcome).body()));
    }

    @Test
    void aVerbWithoutReplyIsSilentAndDropsWhatItCannotDecode() {
        List<String> seen = new ArrayList<>();
        ControlHandler handler =
                ControlHandler.noReply(BackendInstallRequest::decode, request -> seen.add(request.backend()));
        assertInstanceOf(
                Outcome.Silent.class,
                run(handler, BackendInstallRequest.of("b", "", 0).encode()));
        assertInstanceOf(Outcome.Dropped.class, run(handler, JUNK));
        assertEquals(List.of("b"), seen);
    }

    @Test
    void aReplyThatCannotBeEncodedIsSaidSo() {
        WireRecord broken = () -> Map.of("x", new Object());
        Outcome outcome = run(ControlHandler.unary(context -> broken), new byte[0]);
        assertEquals("{\"error\":\"internal marshal error\"}", text(((Outcome.Reply) outcome).body()));
    }
}
