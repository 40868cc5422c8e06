package org.nemorelay.plugin.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.StreamOutput;
import org.nemorelay.plugin.api.ToolCall;

/** The rig gives up a call that heeds no interrupt, as a worker does. */
@Timeout(60)
class CallsThatNeverReturnTest {
    private final CountDownLatch testEnds = new CountDownLatch(1);

    @AfterEach
    void letThreadsEnd() {
        testEnds.countDown();
    }

    private void never() {
        while (testEnds.getCount() > 0) {
            try {
                testEnds.await();
            } catch (InterruptedException e) {
                // As a plugin does that knows better.
            }
        }
    }

    /** Moves the rig's clock until the answer is here. */
    private static <T> T late(PluginRig rig, Supplier<T> asked) throws Exception {
        CompletableFuture<T> answer = CompletableFuture.supplyAsync(asked);
        while (!answer.isDone()) {
            rig.advance(Duration.ofSeconds(6));
            try {
                return answer.get(20, TimeUnit.MILLISECONDS);
            } catch (java.util.concurrent.TimeoutException e) {
                // The next step.
            }
        }
        return answer.get();
    }

    private final class Blocking implements StreamIntercept {
        @Override
        public StreamHandler open(
                org.nemorelay.plugin.api.ModelRequest request,
                org.nemorelay.plugin.api.ModelResponse.Streamed response) {
            return new StreamHandler() {
                private int events;

                @Override
                public CompletionStage<Void> onEvent(StreamEvent event, StreamOutput out) {
                    if (events++ == 1) {
                        never();
                    }
                    out.emit(event);
                    return DONE;
                }
            };
        }
    }

    @Test
    void aStreamEndsWithAnErrorOfItsApi() throws Exception {
        try (PluginRig rig = PluginRig.of(new Blocking())) {
            for (ModelApi api : ModelApi.values()) {
                for (int cut : new int[] {7, 100_000}) {
                    Exchange exchange = late(
                            rig,
                            () -> rig.send(
                                    Requests.streamed(api, "hi"),
                                    FakeProvider.streams(Recording.text(api).cutEvery(cut))));
                    assertEquals(200, exchange.status());
                    assertTrue(exchange.whole());
                    assertTrue(
                            exchange.body()
                                            .startsWith(
                                                    Recording.text(api).chunks().getFirst())
                                    && exchange.body()
                                            .contains("the plugin \\\"Blocking\\\" took too long, so the answer ends"
                                                    + " here"),
                            exchange.body());
                }
            }
        }
    }

    private final class Undecided implements HookPolicy {
        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            never();
            return CompletableFuture.completedStage(Decision.allow());
        }
    }

    @Test
    void aToolCallIsDenied() throws Exception {
        try (PluginRig rig = PluginRig.of(new Undecided())) {
            assertEquals(
                    Decision.deny(
                            "the policy plugin \"Undecided\" did not decide within 5 s, so this tool call is denied"),
                    late(rig, () -> rig.decide(ToolCalls.shell(ToolCall.Agent.CODEX, "ls"))));
        }
    }
}
