package org.nemorelay.plugin.toolpolicy.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.testkit.Exchange;
import org.nemorelay.plugin.testkit.FakeProvider;
import org.nemorelay.plugin.testkit.PluginRig;
import org.nemorelay.plugin.testkit.Recording;
import org.nemorelay.plugin.testkit.Requests;

/** Denied tool calls are taken out of model answers; everything else keeps its bytes. */
class ModelAnswersTest {
    private static final String SAID =
            "[The call of the tool Bash was blocked: the administrator's tool policy denies the tool Bash with this command]";

    private static PluginRig rig(String command) {
        Rules rules = Rules.of(PluginConfig.of(Map.of(
                "surfaces", new String[] {"responses"},
                "rules.0.action", "deny",
                "rules.0.tools", new String[] {"Bash"},
                "rules.0.commands", new String[] {command})));
        return PluginRig.of(new WholeAnswers(rules), new StreamedAnswers(rules));
    }

    @ParameterizedTest
    @EnumSource
    void aDeniedCallBecomesTextInAStream(ModelApi api) {
        try (PluginRig rig = rig("ls /tmp")) {
            for (int cut : new int[] {5, 200, 100_000}) {
                Exchange exchange = rig.send(
                        Requests.streamed(api, "hi"),
                        FakeProvider.streams(Recording.toolCall(api).cutEvery(cut)));
                assertTrue(exchange.streamedText().endsWith(SAID), exchange.body());
                for (String left : List.of("tool_use", "tool_calls", "function_call", "partial_json")) {
                    assertFalse(exchange.body().contains(left), left + " in " + exchange.body());
                }
                exchange.events()
                        .forEach(event -> assertTrue(
                                event.json().isPresent() || event.data().equals(Optional.of("[DONE]"))));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void anAllowedCallAndATextKeepTheirBytes(ModelApi api) {
        try (PluginRig rig = rig("rm")) {
            for (Recording recording : List.of(Recording.toolCall(api), Recording.text(api))) {
                Exchange exchange =
                        rig.send(Requests.streamed(api, "hi"), FakeProvider.streams(recording.cutEvery(50)));
                assertEquals(recording.text(), exchange.body());
            }
        }
    }

    private static boolean taken(String userAgent, Map<String, Object> config) {
        Rules rules = Rules.of(PluginConfig.of(config));
        String answer = "{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"Write\",\"input\":"
                + "{\"file_path\":\"/etc/passwd\"}}],\"stop_reason\":\"tool_use\"}";
        try (PluginRig rig = PluginRig.of(new WholeAnswers(rules), new StreamedAnswers(rules))) {
            Exchange exchange = rig.send(
                    Requests.whole(ModelApi.ANTHROPIC_MESSAGES, "hi").withHeader("user-agent", userAgent),
                    FakeProvider.answers(200, answer));
            boolean left = exchange.body().equals(answer);
            assertEquals(!left, exchange.body().contains("was blocked"), exchange.body());
            return !left;
        }
    }

    @Test
    void agentAndPathDecideInAnswersToo() {
        Map<String, Object> config = Map.of(
                "surfaces", new String[] {"hooks", "responses"},
                "rules.0.action", "deny",
                "rules.0.agents", new String[] {"claude-code"},
                "rules.0.paths", new String[] {"/etc/**"});
        assertTrue(taken("claude-cli/2.0", config));
        assertFalse(taken("codex_cli_rs/1.0", config));
        assertFalse(taken("agent/1.0", config));
        Map<String, Object> elsewhere = new HashMap<>(config);
        elsewhere.put("rules.0.paths", new String[] {"/srv/**"});
        assertFalse(taken("claude-cli/2.0", elsewhere));
    }

    @Test
    void aQuestionIsTheHooksToAskAndADenialWhereHooksAreNotSeen() {
        Map<String, Object> config = new HashMap<>(Map.of(
                "surfaces",
                new String[] {"hooks", "responses"},
                "rules.0.action",
                "ask",
                "rules.0.tools",
                new String[] {"Write"}));
        assertFalse(taken("claude-cli/2.0", config));
        config.put("surfaces", new String[] {"responses"});
        assertTrue(taken("claude-cli/2.0", config));
    }

    @ParameterizedTest
    @EnumSource
    void aDeniedCallBecomesTextInAWholeAnswer(ModelApi api) {
        String two = switch (api) {
            case ANTHROPIC_MESSAGES ->
                "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}, %s ,%s],\"stop_reason\":\"tool_use\"}";
            case OPENAI_CHAT ->
                "{\"choices\":[{\"message\":{\"content\":\"a\",\"tool_calls\":[%s,%s]},\"finish_reason\":\"tool_calls\"}]}";
            case OPENAI_RESPONSES -> "{\"output\":[%s, %s],\"status\":\"completed\"}";
        };
        String call = switch (api) {
            case ANTHROPIC_MESSAGES ->
                "{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"Bash\",\"input\":{\"command\":\"COMMAND\"}}";
            case OPENAI_CHAT ->
                "{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":\"{\\\"command\\\":\\\"COMMAND\\\"}\"}}";
            case OPENAI_RESPONSES ->
                "{\"type\":\"function_call\",\"call_id\":\"1\",\"name\":\"Bash\",\"arguments\":\"{\\\"command\\\":\\\"COMMAND\\\"}\"}";
        };
        String good = call.replace("COMMAND", "echo");
        String bad = call.replace("COMMAND", "rm");
        try (PluginRig rig = rig("rm")) {
            Exchange one = rig.send(Requests.whole(api, "hi"), FakeProvider.answers(200, two.formatted(bad, good)));
            assertTrue(one.body().contains("was blocked"), one.body());
            assertTrue(one.body().contains(good), one.body());
            assertFalse(one.body().contains("rm\\"), one.body());
            Exchange none = rig.send(Requests.whole(api, "hi"), FakeProvider.answers(200, two.formatted(bad, bad)));
            for (String left : List.of("tool_use", "tool_calls", "function_call")) {
                assertFalse(none.body().contains(left), left + " in " + none.body());
            }
            Exchange untouched =
                    rig.send(Requests.whole(api, "hi"), FakeProvider.answers(200, two.formatted(good, good)));
            assertEquals(two.formatted(good, good), untouched.body());
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatWasBlockedStandsInTheOrderOfTheCalls(ModelApi api) {
        String call = switch (api) {
            case ANTHROPIC_MESSAGES -> "{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"NAME\",\"input\":{}}";
            case OPENAI_CHAT ->
                "{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"NAME\",\"arguments\":\"{}\"}}";
            case OPENAI_RESPONSES ->
                "{\"type\":\"function_call\",\"call_id\":\"1\",\"name\":\"NAME\",\"arguments\":\"{}\"}";
        };
        String calls = String.join(
                ",", call.replace("NAME", "one"), call.replace("NAME", "two"), call.replace("NAME", "three"));
        String answer = switch (api) {
            case ANTHROPIC_MESSAGES -> "{\"content\":[%s],\"stop_reason\":\"tool_use\"}";
            case OPENAI_CHAT ->
                "{\"choices\":[{\"message\":{\"content\":\"first\",\"tool_calls\":[%s]},\"finish_reason\":\"tool_calls\"}]}";
            case OPENAI_RESPONSES -> "{\"output\":[%s],\"status\":\"completed\"}";
        };
        Rules rules = Rules.of(PluginConfig.of(
                Map.of("surfaces", new String[] {"responses"}, "deny", new String[] {"one", "two", "three"})));
        try (PluginRig rig = PluginRig.of(new WholeAnswers(rules))) {
            String body = rig.send(Requests.whole(api, "hi"), FakeProvider.answers(200, answer.formatted(calls)))
                    .body();
            List<Integer> places = Stream.of("tool one was", "tool two was", "tool three was")
                    .map(body::indexOf)
                    .toList();
            assertFalse(places.contains(-1), body);
            assertEquals(places.stream().sorted().toList(), places, body);
        }
    }
}
