package org.nemorelay.plugin.toolpolicy.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.json.Json;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.testkit.Exchange;
import org.nemorelay.plugin.testkit.FakeProvider;
import org.nemorelay.plugin.testkit.PluginRig;
import org.nemorelay.plugin.testkit.Recording;
import org.nemorelay.plugin.testkit.Requests;

/** Answers as no provider should send them, and as some do: what is denied does not reach the agent, the rest does. */
class DeniedCallsNeverArriveTest {
    private static final String RM = "rm -rf";
    private static final Map<String, Object> BASH =
            Map.of("deny", new String[] {"Bash", "mcp__files__*", "web_search"});

    private static PluginRig rig(Map<String, Object> config) {
        Map<String, Object> all = new HashMap<>(config);
        all.put("surfaces", new String[] {"responses"});
        Rules rules = Rules.of(PluginConfig.of(all));
        return PluginRig.of(new WholeAnswers(rules), new StreamedAnswers(rules));
    }

    /** Written with ' for ". */
    private static String stream(ModelApi api, String... events) {
        StringBuilder stream = new StringBuilder();
        for (String event : events) {
            stream.append("data: ").append(event.replace('\'', '"')).append("\n\n");
        }
        return stream.toString();
    }

    private static String streamed(Map<String, Object> config, ModelApi api, String... events) {
        return sent(config, api, stream(api, events));
    }

    private static String sent(Map<String, Object> config, ModelApi api, String stream) {
        String body = "";
        try (PluginRig rig = rig(config)) {
            for (int cut : new int[] {7, 100_000}) {
                Exchange exchange = rig.send(
                        Requests.streamed(api, "hi"),
                        FakeProvider.streams(new Recording(api, List.of(stream)).cutEvery(cut)));
                assertFalse(exchange.body().contains(RM), exchange.body());
                body = exchange.body();
            }
        }
        return body;
    }

    private static Exchange whole(Map<String, Object> config, ModelApi api, String answer) {
        try (PluginRig rig = rig(config)) {
            return rig.send(Requests.whole(api, "hi"), FakeProvider.answers(200, answer.replace('\'', '"')));
        }
    }

    private static void kept(Map<String, Object> config, ModelApi api, String... events) {
        String stream = stream(api, events);
        try (PluginRig rig = rig(config)) {
            Exchange exchange =
                    rig.send(Requests.streamed(api, "hi"), FakeProvider.streams(new Recording(api, List.of(stream))));
            assertEquals(stream, exchange.body());
        }
    }

    // ---- Anthropic Messages

    private static String start(int index, String block) {
        return "{'type':'content_block_start','index':" + index + ",'content_block':" + block + "}";
    }

    private static String delta(int index, String piece) {
        return "{'type':'content_block_delta','index':" + index + ",'delta':{'type':'input_json_delta','partial_json':"
                + Json.write(piece).replace("\\\"", "\\u0022").replace('"', '\'') + "}}";
    }

    private static String stop(int index) {
        return "{'type':'content_block_stop','index':" + index + "}";
    }

    private static String use(String id, String name) {
        return "{'type':'tool_use','id':'" + id + "','name':'" + name + "','input':{}}";
    }

    @Test
    void messagesWithCallsThatRunIntoEachOther() {
        String body = streamed(
                BASH,
                ModelApi.ANTHROPIC_MESSAGES,
                start(1, use("a", "Bash")),
                start(2, use("b", "Read")),
                delta(1, "{\"command\":\"rm "),
                delta(2, "{\"path\":\"fine\"}"),
                delta(1, "-rf\"}"),
                delta(1, RM),
                stop(2),
                stop(1),
                delta(1, RM),
                delta(2, RM),
                "{'type':'message_delta','delta':{'stop_reason':'tool_use'}}");
        assertTrue(
                body.contains("fine") && body.contains("was blocked") && body.contains("'tool_use'".replace('\'', '"')),
                body);
    }

    @Test
    void messagesWithTheArgumentsInTheFirstEvent() {
        Map<String, Object> config = Map.of("rules.0.action", "deny", "rules.0.commands", new String[] {"rm"});
        String block = "{'type':'tool_use','id':'a','name':'Bash','input':{'command':'rm -rf'}}";
        streamed(config, ModelApi.ANTHROPIC_MESSAGES, start(0, block), stop(0));
        streamed(config, ModelApi.ANTHROPIC_MESSAGES, start(0, block), delta(0, "{\"command\":\"ls\"}"), stop(0));
        streamed(config, ModelApi.ANTHROPIC_MESSAGES, start(0, block), start(0, use("a", "Read")), stop(0));
        String message = "{'type':'message_start','message':{'content':[" + block + "]}}";
        streamed(config, ModelApi.ANTHROPIC_MESSAGES, message);
    }

    @Test
    void messagesWithArgumentsThatAreNoJson() {
        Map<String, Object> config = Map.of("rules.0.action", "deny", "rules.0.paths", new String[] {"/etc/**"});
        for (String piece :
                List.of("{\"path\":\"/tmp\",\"path\":\"rm -rf\"}", "{\"path\":\"rm -rf", "[\"rm -rf\"]", "rm -rf")) {
            streamed(config, ModelApi.ANTHROPIC_MESSAGES, start(0, use("a", "Write")), delta(0, piece), stop(0));
        }
    }

    @Test
    void messagesWithCallsThatTheProviderMakes() {
        String search = "{'type':'server_tool_use','id':'s','name':'web_search','input':{'query':'rm -rf'}}";
        String result = "{'type':'web_search_tool_result','tool_use_id':'s','content':[{'title':'rm -rf'}]}";
        String mcp = "{'type':'mcp_tool_use','id':'m','name':'write','server_name':'files','input':{'x':'rm -rf'}}";
        String answer = "{'type':'mcp_tool_result','tool_use_id':'m','content':'rm -rf'}";
        String body = streamed(
                BASH,
                ModelApi.ANTHROPIC_MESSAGES,
                start(0, search),
                stop(0),
                start(1, result),
                stop(1),
                start(2, mcp),
                stop(2),
                start(3, answer),
                stop(3),
                start(4, "{'type':'text','text':'end'}"),
                stop(4));
        assertTrue(
                body.endsWith(stream(ModelApi.ANTHROPIC_MESSAGES, start(4, "{'type':'text','text':'end'}"), stop(4))),
                body);
        Exchange whole = whole(
                BASH,
                ModelApi.ANTHROPIC_MESSAGES,
                "{'content':[" + String.join(",", search, result, mcp, answer) + "],'stop_reason':'end_turn'}");
        assertFalse(whole.body().contains(RM), whole.body());
        kept(
                BASH,
                ModelApi.ANTHROPIC_MESSAGES,
                start(0, search.replace("web_search", "code")),
                stop(0),
                start(1, result),
                stop(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"data:  ", "data: \t", "\ufeffdata:", "id: 1\nevent: x\ndata:", ": c\ndata:"})
    void linesThatBeginInAnotherWay(String begin) {
        for (String call : List.of(
                "{'choices':[{'delta':{'tool_calls':[{'index':0,'function':{'name':'Bash','arguments':'rm -rf'}}]},'finish_reason':'tool_calls'}]}",
                "{'choices':[{'delta':{'tool_calls':[{'index':0,'function':{'name':'Bash','arguments':'rm -rf'}}],'tool_calls':[]}}]}",
                "[{'choices':'rm -rf'}]",
                "{'choices':'rm -rf'")) {
            sent(BASH, ModelApi.OPENAI_CHAT, begin + call.replace('\'', '"') + "\n\n");
        }
    }

    // ---- Responses

    private static String item(String type, int place, String item) {
        return "{'type':'response.output_item." + type + "','output_index':" + place + ",'item':" + item + "}";
    }

    private static String arguments(String type, int place, String field, String text) {
        return "{'type':'response.function_call_arguments." + type + "','output_index':" + place + ",'" + field + "':"
                + Json.write(text).replace("\\\"", "\\u0022").replace('"', '\'') + "}";
    }

    private static String call(String name, String arguments) {
        return "{'type':'function_call','id':'f','call_id':'c','name':'" + name + "','arguments':"
                + Json.write(arguments).replace("\\\"", "\\u0022").replace('"', '\'') + "}";
    }

    @Test
    void responsesWithCallsThatRunIntoEachOther() {
        String body = streamed(
                BASH,
                ModelApi.OPENAI_RESPONSES,
                item("added", 0, call("exec_command", "")),
                item("added", 1, call("read", "")),
                arguments("delta", 0, "delta", "{\"cmd\":\"rm -rf\"}"),
                arguments("delta", 1, "delta", "{\"x\":\"fine\"}"),
                arguments("done", 0, "arguments", "{\"cmd\":\"rm -rf\"}"),
                item("done", 1, call("read", "{\"x\":\"fine\"}")),
                item("done", 0, call("exec_command", "{\"cmd\":\"rm -rf\"}")),
                arguments("delta", 0, "delta", "rm -rf"),
                arguments("delta", 1, "delta", "rm -rf"),
                "{'type':'response.completed','response':{'output':[" + call("exec_command", "rm -rf") + ","
                        + call("read", "fine") + "]}}");
        assertTrue(body.contains("fine") && body.contains("was blocked"), body);
    }

    @Test
    void responsesThatTellACallInOneEventAlone() {
        streamed(BASH, ModelApi.OPENAI_RESPONSES, item("done", 0, call("shell", RM)));
        streamed(BASH, ModelApi.OPENAI_RESPONSES, item("changed", 0, call("shell", RM)));
        for (String end : List.of("completed", "incomplete", "failed", "created", "of_later_versions")) {
            streamed(
                    BASH,
                    ModelApi.OPENAI_RESPONSES,
                    "{'type':'response." + end + "','response':{'output':[{'type':'message'}," + call("shell", RM)
                            + "]}}");
        }
        streamed(BASH, ModelApi.OPENAI_RESPONSES, item("added", 0, call("shell", RM)));
        streamed(
                BASH,
                ModelApi.OPENAI_RESPONSES,
                arguments("delta", 0, "delta", RM),
                arguments("done", 0, "arguments", RM));
    }

    @Test
    void responsesThatSayOneThingAndThenAnother() {
        Map<String, Object> config = Map.of("rules.0.action", "deny", "rules.0.commands", new String[] {"rm"});
        String ls = "{\"cmd\":\"ls\"}";
        String rm = "{\"cmd\":\"rm -rf\"}";
        streamed(
                BASH,
                ModelApi.OPENAI_RESPONSES,
                item("added", 0, call("read", "")),
                item("done", 0, call("shell", RM)));
        streamed(
                BASH,
                ModelApi.OPENAI_RESPONSES,
                item("added", 0, call("shell", RM)),
                item("done", 0, call("read", "")));
        Map<String, Object> read =
                Map.of("default", "deny", "rules.0.action", "allow", "rules.0.tools", new String[] {"read"});
        streamed(read, ModelApi.OPENAI_RESPONSES, item("added", 0, call("read", "{}")), item("done", 0, call("x", rm)));
        kept(read, ModelApi.OPENAI_RESPONSES, item("added", 0, call("read", "")), item("done", 0, call("read", rm)));
        streamed(config, ModelApi.OPENAI_RESPONSES, item("added", 0, call("x", rm)), item("done", 0, call("x", ls)));
        streamed(
                config,
                ModelApi.OPENAI_RESPONSES,
                item("added", 0, call("x", "")),
                arguments("delta", 0, "delta", rm),
                item("done", 0, call("x", ls)));
        streamed(
                config,
                ModelApi.OPENAI_RESPONSES,
                item("added", 0, call("x", "")),
                arguments("done", 0, "arguments", rm),
                item("done", 0, call("x", ls)));
        streamed(
                config,
                ModelApi.OPENAI_RESPONSES,
                item("done", 0, call("x", ls)),
                "{'type':'response.completed','response':{'output':[" + call("x", rm) + "]}}");
    }

    @Test
    void responsesByTheIdOfTheItemAlone() {
        String added = "{'type':'response.output_item.added','item':" + call("shell", "") + "}";
        String delta = "{'type':'response.function_call_arguments.delta','item_id':'f','delta':'rm -rf'}";
        String done = "{'type':'response.output_item.done','item':" + call("shell", RM) + "}";
        streamed(BASH, ModelApi.OPENAI_RESPONSES, added, delta, done);
        streamed(BASH, ModelApi.OPENAI_RESPONSES, item("added", 3, call("shell", "")), delta, done, delta);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'local_shell_call','id':'l','action':{'type':'exec','command':['bash','-lc','rm -rf']}}",
                "{'type':'shell_call','id':'l','action':{'commands':['ls','rm -rf']}}",
                "{'type':'apply_patch_call','id':'l','operation':{'type':'update_file','path':'/etc/rm -rf'}}",
                "{'type':'custom_tool_call','id':'l','name':'apply_patch','input':'*** Begin Patch\\n*** Update File: /etc/rm -rf'}",
                "{'type':'custom_tool_call','id':'l','name':'run','input':'rm -rf'}",
                "{'type':'function_call','id':'l','namespace':'mcp__files','name':'write','arguments':'{}','x':'rm -rf'}",
                "{'type':'function_call','id':'l','namespace':'mcp__files__','name':'write','arguments':'{}','x':'rm -rf'}",
                "{'type':'mcp_call','id':'l','server_label':'files','name':'write','arguments':'{}','output':'rm -rf'}",
                "{'type':'mcp_approval_request','id':'l','server_label':'files','name':'write','arguments':'{}','x':'rm -rf'}",
                "{'type':'web_search_call','id':'l','action':{'query':'rm -rf'}}",
                "{'type':'code_interpreter_call','id':'l','code':'rm -rf'}",
                "{'type':'of_later_versions_call','id':'l','command':'rm -rf'}"
            })
    void everyKindOfCallOfResponses(String item) {
        Map<String, Object> config = Map.of(
                "deny", new String[] {"mcp__files__*", "web_search"},
                "rules.0.action", "deny",
                "rules.0.commands", new String[] {"rm"},
                "rules.1.action", "deny",
                "rules.1.tools", new String[] {"code_interpreter"},
                "rules.2.action", "deny",
                "rules.2.paths", new String[] {"/etc/**"});
        String end = "{'type':'response.completed','response':{'output':[" + item + "]}}";
        String type = item.substring(9, item.indexOf("'", 9));
        String progress = "{'type':'response." + type + ".in_progress','output_index':0,'item_id':'l'}";
        String body = streamed(
                config, ModelApi.OPENAI_RESPONSES, item("added", 0, item), progress, item("done", 0, item), end);
        assertTrue(body.contains("was blocked"), body);
        Exchange whole = whole(config, ModelApi.OPENAI_RESPONSES, "{'output':[{'type':'reasoning'}," + item + "]}");
        assertFalse(whole.body().contains(RM), whole.body());
        assertTrue(whole.body().contains("was blocked"), whole.body());
        kept(
                Map.of("deny", new String[] {"x"}),
                ModelApi.OPENAI_RESPONSES,
                item("added", 0, item),
                progress,
                item("done", 0, item),
                end);
    }

    // ---- Chat Completions

    private static String chat(String delta, String reason) {
        return "{'choices':[{'index':0,'delta':" + delta + ",'finish_reason':" + reason + "}]}";
    }

    private static String calls(String... pieces) {
        return "{'tool_calls':[" + String.join(",", pieces) + "]}";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'index':0,'id':'a','function':{'name':'Ba'}}|{'index':0,'function':{'name':'sh','arguments':'rm -rf'}}",
                "{'index':0,'id':'a','function':{'name':'Bash'}}|{'index':0,'function':{'name':'Bash','arguments':'rm -rf'}}",
                "{'index':0,'id':'a','function':{'name':'Read'}}|{'index':0,'id':'b','function':{'name':'Bash','arguments':'rm -rf'}}",
                "{'id':'a','function':{'name':'Read'}}|{'id':'b','function':{'name':'Bash','arguments':'rm -rf'}}",
                "{'index':1,'id':'a','function':{'name':'Read'}}|{'index':0,'id':'b','function':{'name':'Bash','arguments':'rm -rf'}}",
                "{'index':0,'type':'custom','custom':{'name':'Bash'}}|{'index':0,'custom':{'input':'rm -rf'}}",
                "{'index':0,'function':{'name':'Bash','arguments':{'command':'rm -rf'}}}"
            })
    void chatWithPiecesInEveryOrder(String pieces) {
        String[] each = pieces.split("\\|");
        String[] events = new String[each.length + 2];
        for (int i = 0; i < each.length; i++) {
            events[i] = chat(calls(each[i]), "null");
        }
        events[each.length] = chat("{}", "'tool_calls'");
        events[each.length + 1] = "{'choices':[],'usage':{'total_tokens':7}}";
        String body = streamed(BASH, ModelApi.OPENAI_CHAT, events);
        assertTrue(body.contains("was blocked") && body.contains("total_tokens"), body);
        assertEquals(pieces.contains("Read"), body.contains("\"name\":\"Read\""), body);
        String together = streamed(
                BASH,
                ModelApi.OPENAI_CHAT,
                chat(calls(each), "null"),
                chat("{'content':'more'}", "null"),
                events[each.length]);
        assertTrue(together.contains("was blocked") && together.contains("more"), together);
    }

    @Test
    void chatThatSaysNotWhyItStops() {
        String piece = chat(calls("{'index':0,'function':{'name':'Bash','arguments':'rm -rf'}}"), "null");
        String fine = chat(calls("{'index':0,'function':{'name':'Read','arguments':'{}'}}"), "null");
        assertEquals("", streamed(BASH, ModelApi.OPENAI_CHAT, piece));
        assertTrue(streamed(BASH, ModelApi.OPENAI_CHAT, piece, "[DONE]").endsWith("data: [DONE]\n\n"));
        kept(BASH, ModelApi.OPENAI_CHAT, fine, "[DONE]");
        streamed(BASH, ModelApi.OPENAI_CHAT, chat("{}", "'stop'"), piece, "[DONE]");
    }

    @Test
    void chatInItsOldForm() {
        String old = "{'function_call':{'name':'Bash','arguments':'rm -rf'}}";
        String body = streamed(BASH, ModelApi.OPENAI_CHAT, chat(old, "null"), chat("{}", "'function_call'"));
        assertTrue(body.contains("\"stop\""), body);
        Exchange whole = whole(
                BASH, ModelApi.OPENAI_CHAT, "{'choices':[{'message':" + old + ",'finish_reason':'function_call'}]}");
        assertFalse(whole.body().contains(RM), whole.body());
        assertEquals("stop", whole.json().string("/choices/0/finish_reason").orElse(""));
        streamed(
                BASH,
                ModelApi.OPENAI_CHAT,
                "{'choices':[{'message':" + calls("{'function':{'name':'Bash','arguments':'rm -rf'}}")
                        + ",'finish_reason':'tool_calls'}]}");
    }

    @Test
    void chatWithSeveralChoices() {
        String bad = "{'index':0,'id':'a','function':{'name':'Bash','arguments':'rm -rf'}}";
        String good = "{'index':0,'id':'b','function':{'name':'Read','arguments':'fine'}}";
        String body = streamed(
                BASH,
                ModelApi.OPENAI_CHAT,
                "{'choices':[{'index':0,'delta':" + calls(bad) + "},{'index':1,'delta':" + calls(good) + "}]}",
                "{'choices':[{'index':1,'delta':{},'finish_reason':'tool_calls'}]}",
                "{'choices':[{'index':0,'delta':{},'finish_reason':'tool_calls'}]}");
        assertTrue(body.contains("fine") && body.contains("was blocked"), body);
        assertTrue(body.contains("\"finish_reason\":\"tool_calls\"") && body.contains("\"stop\""), body);
        Exchange whole = whole(
                BASH,
                ModelApi.OPENAI_CHAT,
                "{'choices':[{'message':" + calls(bad, good) + ",'finish_reason':'tool_calls'},{'message':" + calls(bad)
                        + ",'finish_reason':'tool_calls'}]}");
        assertFalse(whole.body().contains(RM), whole.body());
        assertEquals(
                "tool_calls", whole.json().string("/choices/0/finish_reason").orElse(""));
        assertEquals("stop", whole.json().string("/choices/1/finish_reason").orElse(""));
    }

    @Test
    void aWholeAnswerThatCannotBeReadDoesNotArrive() {
        for (String answer : List.of(
                "rm -rf",
                "{'content':[],'content':[{'type':'tool_use','name':'Bash','input':{'command':'rm -rf'}}]}")) {
            Exchange exchange = whole(BASH, ModelApi.ANTHROPIC_MESSAGES, answer);
            assertTrue(exchange.status() >= 500, exchange.body());
            assertFalse(exchange.body().contains(RM), exchange.body());
        }
    }
}
