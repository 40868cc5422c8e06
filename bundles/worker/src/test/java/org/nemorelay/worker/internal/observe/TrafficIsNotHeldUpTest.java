package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpFields;
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
        String hook =
                "{\"session_id\":\"a\",\"hook_event_name\":\"Notification\",\"x\":\"" + "x".repeat(1 << 20) + "\"}";
        for (int i = 0; i < 100; i++) {
            assertTrue(Recorder.hook(events, HookAgent.CLAUDE_CODE, hook).isDone());
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
    void aHookThatEndsSomethingIsAnsweredWhenTheEndIsRecorded() throws Exception {
        Recorder recorder = new Recorder();
        TrafficEvents events = recorder.events(Map.of(), 1000);
        for (String event : List.of("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")) {
            Recorder.hook(
                            events,
                            HookAgent.CLAUDE_CODE,
                            "{\"session_id\":\"a\",\"tool_use_id\":\"t\",\"tool_name\":\"Bash\",\"hook_event_name\":\""
                                    + event + "\"}")
                    .get();
            if (event.equals("PostToolUse")) {
                recorder.only("Bash", "end");
            }
        }
        recorder.only("claude-code-turn", "end");
        events.close("end", 10_000);
    }

    @Test
    void aSubscriberThatStandsStillIsWaitedForOnce() throws Exception {
        Recorder recorder = new Recorder();
        CountDownLatch release = new CountDownLatch(1);
        recorder.holdUntil(release);
        TrafficEvents events = recorder.events(Map.of(), 1000);
        String stop = "{\"session_id\":\"a\",\"hook_event_name\":\"Stop\"}";
        Recorder.hook(events, HookAgent.CODEX, "{\"session_id\":\"a\",\"hook_event_name\":\"Notification\"}");
        Recorder.hook(events, HookAgent.CODEX, stop).get(30, TimeUnit.SECONDS);
        assertTrue(Recorder.hook(events, HookAgent.CODEX, stop).isDone());
        release.countDown();
        Recorder.hook(events, HookAgent.CODEX, stop).get(30, TimeUnit.SECONDS);
        events.close("end", 10_000);
        recorder.only("codex-turn", "end");
    }

    @Test
    void withoutASubscriberNothingIsCopied() throws Exception {
        Snapshot nobody = Snapshot.NONE;
        TrafficEvents events = new TrafficEvents(() -> nobody, Map::of, new Ids()::uuid7, new Recorder(), 1000);
        assertEquals(Optional.empty(), events.call("/v1/messages", HttpFields.EMPTY, -1, Optional.empty()));
        events.close("end", 10_000);
    }

    @Test
    void pathsWithoutEventsAreNotObserved() throws Exception {
        TrafficEvents events = new Recorder().events(Map.of(), 1000);
        for (String path : List.of("/v1/models", "/v1/messages/count_tokens", "/v1/images/generations")) {
            assertEquals(Optional.empty(), events.call(path, HttpFields.EMPTY, -1, Optional.empty()));
        }
        assertTrue(events.call("/backend-api/codex/responses", HttpFields.EMPTY, -1, Optional.empty())
                .isPresent());
        events.close("end", 10_000);
    }
}
