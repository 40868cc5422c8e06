package org.nemorelay.plugin.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.ToolCall;

/** What a worker does around the pipeline, the rig does too: a plugin that passes here passes there. */
@Timeout(60)
class AsInAWorkerTest {
    /** A service that reads bodies. */
    private record Reads(List<ModelRequest> asked) implements RequestGuardrail {
        @Override
        public boolean needsBody() {
            return true;
        }

        @Override
        public CompletionStage<Decision> check(ModelRequest request) {
            asked.add(request);
            return CompletableFuture.completedStage(Decision.allow());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "null",
                "{",
                "{\"model\":\"a\"} x",
                "{\"model\":\"a\",\"model\":\"b\"}",
                "{\"a\":{\"b\":1,\"b\":2}}",
                "{\"n\":1e999999999999}"
            })
    void aBodyThatCannotBeJudgedIsShownToNobody(String body) {
        List<ModelRequest> asked = new ArrayList<>();
        try (PluginRig rig = PluginRig.of(new Reads(asked))) {
            Exchange exchange = rig.send(Requests.of(ModelApi.OPENAI_CHAT, body), FakeProvider.answers(200, "{}"));
            assertEquals(400, exchange.status());
            assertTrue(exchange.body().contains("plugins cannot judge the request's body: "), exchange.body());
            assertEquals(List.of(), exchange.sent());
            assertEquals(List.of(), asked);
            assertEquals(List.of(), rig.log());
        }
        // Without a plugin that reads it, it passes.
        RequestIntercept team = request -> CompletableFuture.completedStage(request.withHeader("x-team", "blue"));
        try (PluginRig rig = PluginRig.of(team)) {
            Exchange exchange = rig.send(Requests.of(ModelApi.OPENAI_CHAT, body), FakeProvider.answers(200, "{}"));
            assertEquals(200, exchange.status());
        }
    }

    @Test
    void whatIsDeeperThanIsReadIsSaidToBe() {
        try (PluginRig rig = PluginRig.of(new Reads(new ArrayList<>()))) {
            Exchange exchange = rig.send(
                    Requests.of(ModelApi.OPENAI_CHAT, "{\"a\":" + "[".repeat(10_000) + "]".repeat(10_000) + "}"),
                    FakeProvider.answers(200, "{}"));
            assertEquals(
                    Optional.of("plugins cannot judge the request's body: beyond what is read as JSON: Document nesting"
                            + " depth (501) exceeds the maximum allowed (500)"),
                    exchange.json().string("/error/message"));
        }
    }

    @Test
    void aBodyThatIsTooLargeIsRefused() {
        try (PluginRig rig = PluginRig.of(new Reads(new ArrayList<>()))) {
            Exchange exchange = rig.send(
                    Requests.streamed(ModelApi.ANTHROPIC_MESSAGES, "x".repeat(1024 * 1024)),
                    FakeProvider.answers(200, "{}"));
            assertEquals(413, exchange.status());
            assertEquals(List.of(), exchange.sent());
        }
    }

    @Test
    void credentialsAndTheRelaysOwnHeadersAreNotShown() {
        List<HeaderMap> seen = new ArrayList<>();
        RequestIntercept sets = request -> {
            seen.add(request.headers());
            return CompletableFuture.completedStage(request.withHeader("x-team", "blue")
                    .withHeader("x-nemo-relay-mine", "1")
                    .withHeader("x-api-key", "mine")
                    .withoutHeader("authorization")
                    .withoutHeader("user-agent"));
        };
        HeaderMap headers = HeaderMap.of()
                .with("user-agent", "a")
                .with("authorization", "Bearer k")
                .with("x-api-key", "theirs")
                .with("x-nemo-relay-client-token", "t");
        try (PluginRig rig = PluginRig.of(sets)) {
            ModelRequest request =
                    Requests.streamed(ModelApi.OPENAI_RESPONSES, "hi").withHeaders(headers);
            Exchange exchange = rig.send(request, FakeProvider.answers(200, "{}"));
            assertEquals(HeaderMap.of().with("user-agent", "a"), seen.getFirst());
            assertEquals(
                    HeaderMap.of()
                            .with("authorization", "Bearer k")
                            .with("x-team", "blue")
                            .with("x-api-key", "mine"),
                    exchange.sent().getFirst().headers());
        }
    }

    @Test
    void aPolicyThatGoesWrongIsToldInTheWorkersWords() {
        Map<String, HookPolicy> wrong = Map.of(
                "java.lang.NullPointerException: it returned null",
                call -> null,
                "java.lang.NullPointerException: its stage completed with null",
                call -> CompletableFuture.completedStage(null),
                "java.lang.Exception: boom",
                call -> {
                    throw new Exception("boom");
                },
                "java.lang.IllegalStateException: later",
                call -> CompletableFuture.failedStage(new IllegalStateException("later")));
        wrong.forEach((why, policy) -> {
            try (PluginRig rig = PluginRig.of(policy)) {
                assertEquals(
                        Decision.deny("the policy plugin \"plugin\" failed, so this tool call is denied"),
                        rig.decide(ToolCalls.shell(ToolCall.Agent.PI, "ls")));
                assertEquals(
                        List.of("plugin_failed plugin plugin failed in decide, the tool call is denied: " + why),
                        rig.log());
            }
        });
    }
}
