package org.nemorelay.plugin.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventMetadataInjector;
import org.nemorelay.plugin.api.EventSanitizer;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.ToolCall;

@Timeout(60)
class PluginRigTest {
    @Test
    void everyRecordingReadsTheSame() {
        try (PluginRig rig = PluginRig.of()) {
            for (ModelApi api : ModelApi.values()) {
                Exchange exchange = rig.send(Requests.streamed(api, "hi"), FakeProvider.streams(Recording.text(api)));
                assertEquals("Hello there", exchange.streamedText());
                assertEquals(Recording.text(api).text(), exchange.body());
                assertEquals(
                        Requests.streamed(api, "hi").body(),
                        exchange.sent().getFirst().body());
                assertEquals(
                        15,
                        exchange.events().stream()
                                .flatMap(event -> event.usage().stream())
                                .mapToLong(usage -> usage.input().orElse(0)
                                        + usage.cacheRead().orElse(0))
                                .max()
                                .orElse(0));
            }
        }
    }

    @Test
    void aStreamInterceptSeesTheEventsHoweverTheyAreCut() {
        StreamIntercept shout = (request, response) -> (event, out) -> {
            var changed = event;
            for (var part : event.texts()) {
                changed = changed.withText(part, part.text().replace("Hello", "HELLO"));
            }
            out.emit(changed);
            return StreamHandler.DONE;
        };
        try (PluginRig rig = PluginRig.of(shout)) {
            for (ModelApi api : ModelApi.values()) {
                for (int cut : new int[] {1, 7, 100, 100_000}) {
                    Exchange exchange = rig.send(
                            Requests.streamed(api, "hi"),
                            FakeProvider.streams(Recording.text(api).cutEvery(cut)));
                    assertEquals(Recording.text(api).text().replace("Hello", "HELLO"), exchange.body());
                }
            }
        }
    }

    @Test
    void guardrailsAndInterceptsRun() {
        RequestGuardrail models = new RequestGuardrail() {
            @Override
            public CompletableFuture<Decision> check(org.nemorelay.plugin.api.ModelRequest request) {
                return CompletableFuture.completedFuture(
                        request.model().equals(Optional.of("gpt-x"))
                                ? Decision.deny("use another model")
                                : Decision.allow());
            }

            @Override
            public boolean needsBody() {
                return true;
            }
        };
        RequestIntercept team = request -> CompletableFuture.completedStage(request.withHeader("x-team", "blue"));
        try (PluginRig rig = PluginRig.of(models, team)) {
            FakeProvider provider = FakeProvider.answers(200, "{}");
            Exchange refused = rig.send(Requests.whole(ModelApi.OPENAI_CHAT, "hi"), provider);
            assertEquals(403, refused.status());
            assertEquals(Optional.of("use another model"), refused.json().string("/error/reason"));
            assertEquals(List.of(), provider.requests());
            Exchange passed = rig.send(Requests.whole(ModelApi.ANTHROPIC_MESSAGES, "hi"), provider);
            assertEquals("{}", passed.body());
            assertEquals(Optional.of("blue"), passed.sent().getFirst().headers().first("x-team"));
        }
    }

    @Test
    void recordsAndDecisions() {
        EventMetadataInjector first = event -> CompletableFuture.completedStage(Map.of("team", "blue"));
        EventSanitizer hides = event -> CompletableFuture.completedStage(event.withData(null));
        HookPolicy asks = call -> CompletableFuture.completedStage(Decision.ask("sure?"));
        HookPolicy denies = call -> CompletableFuture.completedStage(
                call.arguments().string("command").contains("rm") ? Decision.deny("no rm") : Decision.allow());
        Event event = Event.of(Map.of(
                "kind", "mark",
                "atof_version", "0.1",
                "uuid", "u",
                "timestamp", "2026-11-30T00:00:00+00:00",
                "name", "n",
                "data", Map.of("secret", "s")));
        try (PluginRig rig = PluginRig.of(first, hides, asks, denies)) {
            Event recorded = rig.record(event);
            assertEquals(Optional.empty(), recorded.data());
            assertEquals("blue", recorded.metadata().string("team"));
            assertEquals(Decision.deny("no rm"), rig.decide(ToolCalls.shell(ToolCall.Agent.CODEX, "rm -r /")));
            assertEquals(Decision.ask("sure?"), rig.decide(ToolCalls.shell(ToolCall.Agent.PI, "ls")));
        }
    }

    @Test
    void aStreamThatBreaksOffIsNotWhole() {
        try (PluginRig rig = PluginRig.of()) {
            Exchange exchange = rig.send(
                    Requests.streamed(ModelApi.OPENAI_CHAT, "hi"), FakeProvider.breaksOff(List.of("data: 1\n\n")));
            assertFalse(exchange.whole());
            assertTrue(exchange.body().startsWith("data: 1"));
        }
    }
}
