package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.HookAgent;
import org.nemorelay.protocol.control.Ids;

@Timeout(60)
class TrafficIsNotHeldUpTest {
    @Test
    void aDispatcherThatStandsStillLosesHooksAndSaysSo() throws Exception {
        Recorder recorder = new Recorder();
        CountDownLatch release = new CountDownLatch(1);
        recorder.holdUntil(release);
        TrafficEvents events = recorder.events(Map.of(), 1000);
        byte[] hook = ("{\"session_id\":\"a\",\"hook_event_name\":\"Notification\",\"x\":\"" + "x".repeat(1 << 20)
                        + "\"}")
                .getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 100; i++) {
            events.hook(HookAgent.CLAUDE_CODE, hook);
        }
        release.countDown();
        events.close("end", 10_000);
        long marks = recorder.lines().stream()
                .filter(line -> line.contains("\"name\":\"notification\""))
                .count();
        assertTrue(marks >= 31 && marks <= 33, marks + " marks");
        assertEquals(List.of("observation_lost", "observation_lost"), recorder.log);
    }

    @Test
    void whatCannotBeReadHarmsNothing() throws Exception {
        Recorder recorder = new Recorder();
        TrafficEvents events = recorder.events(Map.of(), 1000);
        events.hook(HookAgent.CLAUDE_CODE, "{".getBytes(StandardCharsets.UTF_8));
        events.hook(HookAgent.CLAUDE_CODE, new byte[0]);
        events.hook(
                HookAgent.CLAUDE_CODE,
                "{\"session_id\":\"a\",\"hook_event_name\":\"SessionStart\"}".getBytes(StandardCharsets.UTF_8));
        events.close("end", 10_000);
        assertEquals(1, recorder.lines().size());
    }

    @Test
    void withoutASubscriberNothingIsCopied() throws Exception {
        Snapshot nobody = new Snapshot(List.of());
        TrafficEvents events = new TrafficEvents(() -> nobody, Map.of(), new Ids()::uuid7, new Recorder(), 1000);
        assertEquals(Optional.empty(), events.call("/v1/messages", Map.of()));
        events.close("end", 10_000);
    }

    @Test
    void pathsWithoutEventsAreNotObserved() throws Exception {
        TrafficEvents events = new Recorder().events(Map.of(), 1000);
        for (String path : List.of("/v1/models", "/v1/messages/count_tokens", "/v1/images/generations")) {
            assertEquals(Optional.empty(), events.call(path, Map.of()));
        }
        assertTrue(events.call("/backend-api/codex/responses", Map.of()).isPresent());
        events.close("end", 10_000);
    }
}
