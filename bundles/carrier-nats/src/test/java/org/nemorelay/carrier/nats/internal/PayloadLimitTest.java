package org.nemorelay.carrier.nats.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.AbsentException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.PayloadTooLargeException;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.NatsServer;

/** B38: what is too large is refused here, headers counted, and nothing else suffers. */
class PayloadLimitTest {
    private static final String SUBJECT = "cache.invalidate.models";

    private static List<Message> collect(NatsRig rig) {
        List<Message> seen = Collections.synchronizedList(new ArrayList<>());
        rig.peer().broadcaster().subscribe(SUBJECT, seen::add);
        return seen;
    }

    @Test
    void b38OneMebibyteMoreOrLessAHeader() {
        try (NatsRig rig = new NatsRig()) {
            List<Message> seen = collect(rig);
            int limit = rig.maxPayload();
            Map<String, String> headers = Map.of("Nemo-A", "x".repeat(20));
            int header = "NATS/1.0\r\n".length() + "Nemo-A:".length() + 20 + "\r\n\r\n".length();
            for (int size : new int[] {limit - header - 1, limit - header}) {
                rig.here().broadcaster().publish(new Message(SUBJECT, headers, new byte[size]));
            }
            for (int size : new int[] {limit - header + 1, limit, limit + 1}) {
                assertThrows(
                        PayloadTooLargeException.class,
                        () -> rig.here().broadcaster().publish(new Message(SUBJECT, headers, new byte[size])));
            }
            rig.here().broadcaster().publish(SUBJECT, new byte[3]);
            Await.until("those that fit", () -> seen.size() == 3);
            assertEquals(3, seen.getLast().body().length);
            assertTrue(rig.here().connected());
            assertEquals(
                    List.of(),
                    rig.recorder().lines().stream()
                            .filter(line -> line.startsWith("WARN") || line.startsWith("ERROR"))
                            .toList());
        }
    }

    @Test
    void b38TheLimitIsTheServersOfNow() {
        try (NatsRig rig = new NatsRig(NatsServer.start("max_payload: 8192"))) {
            List<Message> seen = collect(rig);
            assertThrows(
                    PayloadTooLargeException.class,
                    () -> rig.here().broadcaster().publish(SUBJECT, new byte[8193]));
            rig.server.kill();
            Await.until("the link is down", () -> !rig.here().connected());
            assertThrows(
                    AbsentException.class,
                    () -> rig.here().broadcaster().publish(SUBJECT, new byte[8193]),
                    "the limit is not known now");
            rig.server.restart("max_payload: 4096");
            Await.until(
                    "both are back", () -> rig.here().connected() && rig.peer().connected());
            assertThrows(
                    PayloadTooLargeException.class,
                    () -> rig.here().broadcaster().publish(SUBJECT, new byte[4097]));
            Await.until("the largest that fits now", () -> {
                rig.here().broadcaster().publish(SUBJECT, new byte[4096]);
                return !seen.isEmpty();
            });
        }
    }

    @Test
    void b38CallsAnswersAndJobsAreRefusedTheSameWay() {
        try (NatsRig rig = new NatsRig(NatsServer.start("max_payload: 4096"))) {
            rig.peer()
                    .controlServer("n")
                    .handle(
                            ControlVerb.BACKEND_LIST,
                            Need.MANDATORY,
                            (context, body, progress) -> new Outcome.Reply(new byte[5000]));
            assertTrue(rig.here().commands().listBackends("n").error().contains("5000 bytes"));
            assertThrows(
                    PayloadTooLargeException.class,
                    () -> rig.here().commands().unloadModel("n", "m".repeat(5000), "a:1"));
            assertThrows(
                    PayloadTooLargeException.class,
                    () -> rig.here().workQueue().enqueue(Context.background(), WorkKind.TASK, new byte[4097]));
            assertTrue(rig.here().connected() && rig.peer().connected());
        }
    }
}
