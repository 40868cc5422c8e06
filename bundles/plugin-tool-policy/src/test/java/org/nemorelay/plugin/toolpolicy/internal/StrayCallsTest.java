package org.nemorelay.plugin.toolpolicy.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.testkit.Exchange;
import org.nemorelay.plugin.testkit.FakeProvider;
import org.nemorelay.plugin.testkit.PluginRig;
import org.nemorelay.plugin.testkit.Recording;
import org.nemorelay.plugin.testkit.Requests;

/** Calls that stand where, or are written as, no strict reader of an answer would find one. */
class StrayCallsTest {
    private static final Map<String, Object> READ_ALONE = Map.of(
            "surfaces",
            new String[] {"responses"},
            "default",
            "deny",
            "rules.0.action",
            "allow",
            "rules.0.tools",
            new String[] {"Read", "mcp__files__read"});

    private static Exchange streamed(ModelApi api, ModelRequest request, String stream) {
        Rules rules = Rules.of(PluginConfig.of(READ_ALONE));
        try (PluginRig rig = PluginRig.of(new WholeAnswers(rules), new StreamedAnswers(rules))) {
            return rig.send(request, FakeProvider.streams(new Recording(api, List.of(stream.replace('\'', '"')))));
        }
    }

    private static Exchange streamed(ModelApi api, String stream) {
        return streamed(api, Requests.streamed(api, "hi"), stream);
    }

    private static Exchange whole(ModelApi api, String answer) {
        Rules rules = Rules.of(PluginConfig.of(READ_ALONE));
        try (PluginRig rig = PluginRig.of(new WholeAnswers(rules), new StreamedAnswers(rules))) {
            return rig.send(Requests.whole(api, "hi"), FakeProvider.answers(200, answer.replace('\'', '"')));
        }
    }

    private static void gone(Exchange exchange) {
        assertFalse(exchange.body().contains("rm -rf"), exchange.body());
    }

    private static void kept(ModelApi api, String stream) {
        assertEquals(stream.replace('\'', '"'), streamed(api, stream).body());
    }

    @ParameterizedTest
    @EnumSource
    void anAnswerOfOnePieceThatSaysItIsAStream(ModelApi api) {
        String answer = switch (api) {
            case ANTHROPIC_MESSAGES -> "{'content':[{'type':'tool_use','name':'Bash','input':{'command':'rm -rf'}}]}";
            case OPENAI_RESPONSES -> "{'output':[{'type':'function_call','name':'Bash','arguments':'rm -rf'}]}";
            case OPENAI_CHAT ->
                "{'choices':[{'message':{'tool_calls':[{'function':{'name':'Bash','arguments':'rm -rf'}}]}}]}";
        };
        for (String text : List.of(
                answer,
                answer + "\n\n",
                answer.replace(":[", ":\n\n  ["),
                ": comment\n" + answer + "\n\n",
                "data: [DONE]\r" + answer + "\r\r",
                "\ufeff" + answer)) {
            gone(streamed(api, Requests.whole(api, "hi"), text));
            gone(streamed(api, text));
        }
        Exchange told = streamed(api, answer);
        assertTrue(told.body().contains("failed, so the answer ends here"), told.body());
    }

    @Test
    void linesThatAreNoFieldsGoAndTheRestStays() {
        String event = "data: {'choices':[{'delta':{'content':'a'}}]}\n\n";
        assertEquals(
                event.replace('\'', '"'),
                streamed(ModelApi.OPENAI_CHAT, "{'x':'rm -rf'}\n" + event).body());
        kept(
                ModelApi.OPENAI_CHAT,
                "\ufeff: comment\n\nid\nid: 7\nretry: 5\r\nevent: of later versions\ndata\n\n" + event + ":\n\n"
                        + "event:x\ndata: {'type':'of_later_versions','name':'x'}\r\r\ndata: [DONE]\n\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "event: content_block_start\ndata: {'type':'ping',",
                "event: ping\ndata: {'type':'content_block_start',",
                "data: {'type':'content_block_start',",
                "event: content_block_start\ndata: {",
                "event: Content_Block_Start\ndata: {'type':'CONTENT_BLOCK_START',",
                "event: message_delta\ndata: {'type':'content_block_start',",
                "event: content_block_delta\ndata: {'type':'content_block_start',",
                "event: content_block_stop\ndata: {'type':'ping',",
            })
    void namesOfAMessagesEventThatDiffer(String begin) {
        gone(streamed(
                ModelApi.ANTHROPIC_MESSAGES,
                begin + "'index':0,'content_block':{'type':'tool_use','name':'Bash','input':{'command':'rm -rf'}}}\n\n"
                        + begin.replace("start", "delta")
                        + "'index':0,'delta':{'type':'input_json_delta','partial_json':'rm -rf'}}\n\n"
                        + begin.replace("start", "stop") + "'index':0}\n\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"response.output_item.added", "response.output_item.done", "ping", ""})
    void namesOfAResponsesEventThatDiffer(String name) {
        String item = "'output_index':0,'item':{'type':'function_call','name':'Bash','arguments':'rm -rf'}}\n\n";
        for (String type : List.of("response.output_item.added", "response.output_item.done", "ping")) {
            gone(streamed(ModelApi.OPENAI_RESPONSES, "event: " + name + "\ndata: {'type':'" + type + "'," + item));
        }
        gone(streamed(
                ModelApi.OPENAI_RESPONSES,
                "event: response.function_call_arguments.delta\ndata: {'type':'ping','delta':'rm -rf'}\n\n"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'name':'Bash','arguments':'rm -rf','call_id':'c'}",
                "{'type':'tool_use','name':'Bash','input':{'command':'rm -rf'}}",
                "{'type':'function_tool','name':'Bash','arguments':'rm -rf'}",
                "{'type':'FUNCTION_CALL','name':'Bash','arguments':'rm -rf'}",
                "{'type':'message','content':[{'type':'tool_use','name':'Bash','input':'rm -rf'}]}",
                "{'type':'message','content':{'type':'tool_use','name':'Bash','input':'rm -rf'}}",
                "{'type':'message','tool_calls':[{'function':{'name':'Bash','arguments':'rm -rf'}}]}",
                "{'type':'message','function':{'name':'Bash','arguments':'rm -rf'}}",
                "{'function':'Bash','arguments':'rm -rf'}",
                "{'Name':'Bash','Arguments':'rm -rf'}",
                "[{'type':'function_call','name':'Bash','arguments':'rm -rf'}]"
            })
    void itemsThatLookLikeCalls(String item) {
        ModelApi api = ModelApi.OPENAI_RESPONSES;
        gone(whole(api, "{'output':[" + item + "]}"));
        gone(whole(api, "{'output':" + item + "}"));
        gone(whole(api, "[{'output':[" + item + "]}]"));
        gone(whole(api, "{'object':{'output':[" + item + "]}}"));
        gone(streamed(api, "data: {'type':'response.completed','response':{'output':[" + item + "]}}\n\n"));
        gone(streamed(api, "data: {'type':'response.completed','response':{'output':" + item + "}}\n\n"));
        for (String type : List.of("added", "done")) {
            gone(streamed(
                    api,
                    "data: {'type':'response.output_item." + type + "','output_index':0,'item':" + item + "}\n\n"));
        }
        String read = "{'type':'function_call','id':'r','name':'Read','arguments':'{}'}";
        gone(streamed(
                api,
                "data: {'type':'response.output_item.added','item':" + read + ",'response':{'output':[" + item
                        + "]}}\n\n" + "data: {'type':'response.output_item.done','item':" + read + "}\n\n"));
        gone(
                streamed(
                        api,
                        "data: {'type':'response.output_item.added','item':{'type':'function_call','name':'Read'}}\n\n"
                                + "data: {'type':'response.completed','response':{'output':[" + item + "]}}\n\n"
                                + "data: {'type':'response.output_item.done','item':{'type':'function_call','name':'Read'}}\n\n"));
        gone(whole(ModelApi.ANTHROPIC_MESSAGES, "{'content':" + item + "}"));
        gone(whole(ModelApi.ANTHROPIC_MESSAGES, "{'content':[" + item + "]}"));
        gone(whole(ModelApi.ANTHROPIC_MESSAGES, "[{'content':[" + item + "]}]"));
        gone(streamed(ModelApi.ANTHROPIC_MESSAGES, "data: {'type':'message','content':[" + item + "]}\n\n"));
        gone(streamed(
                ModelApi.ANTHROPIC_MESSAGES,
                "data: {'type':'content_block_start','index':0,'content_block':" + item + "}\n\n"
                        + "data: {'type':'content_block_stop','index':0}\n\n"));
        gone(whole(ModelApi.OPENAI_CHAT, "{'choices':[{'message':{'content':[" + item + "]}}]}"));
        gone(streamed(ModelApi.OPENAI_CHAT, "data: {'choices':[{'delta':{'content':[" + item + "]}}]}\n\n"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'tool_calls':{'function':{'name':'Bash','arguments':'rm -rf'}}",
                "'tool_calls':{'0':{'function':{'name':'Bash','arguments':'rm -rf'}}}",
                "'tool_calls':[[{'function':{'name':'Bash','arguments':'rm -rf'}}]]",
                "'tool_calls':['rm -rf']",
                "'tool_calls':'rm -rf'",
                "'Tool_Calls':[{'function':{'name':'Bash','arguments':'rm -rf'}}]",
                "'function_call':[{'name':'Bash','arguments':'rm -rf'}]",
                "'toolCalls':[{'function':{'name':'Bash','arguments':'rm -rf'}}]"
            })
    void callsOfChatThatAreNoList(String calls) {
        ModelApi api = ModelApi.OPENAI_CHAT;
        String end = "data: {'choices':[{'index':0,'delta':{},'finish_reason':'tool_calls'}]}\n\ndata: [DONE]\n\n";
        for (String message : List.of("{" + calls + "}", "[{" + calls + "}]")) {
            gone(whole(api, "{'choices':[{'message':" + message + "}]}"));
            gone(whole(api, "{'choices':{'message':" + message + "}}"));
            gone(whole(api, "[{'choices':[{'message':" + message + "}]}]"));
            gone(streamed(api, "data: {'choices':[{'index':0,'delta':" + message + "}]}\n\n" + end));
            gone(streamed(api, "data: {'choices':{'index':0,'delta':" + message + "}}\n\n" + end));
        }
    }

    /** What the rules let pass does so, in every place where it belongs and beside what only resembles a call. */
    @Test
    void whatIsAllowedKeepsItsBytes() {
        String read = "{'type':'function_call','id':'r','name':'Read','arguments':'{}'}";
        String tools = "'tools':[{'type':'function','name':'Bash','parameters':{'input':{}}}],'tool_choice':"
                + "{'type':'function','name':'Bash'}";
        kept(
                ModelApi.OPENAI_RESPONSES,
                "data: {'type':'response.created','response':{'output':[]," + tools + "}}\n\n"
                        + "data: {'type':'response.output_item.added','output_index':0,'item':" + read + "}\n\n"
                        + "data: {'type':'response.function_call_arguments.done','output_index':0,'name':'Read',"
                        + "'arguments':'{}'}\n\n"
                        + "data: {'type':'response.output_item.done','output_index':0,'item':" + read + "}\n\n"
                        + "data: {'type':'response.completed','response':{" + tools + ",'output':[" + read + "]}}\n\n");
        String use = "{'type':'tool_use','id':'r','name':'Read','input':{'name':'Bash','input':'x','tool_calls':[1]}}";
        String mcp = "{'type':'mcp_tool_use','id':'m','name':'read','server_name':'files','input':{}}";
        String message = "{'content':[{'type':'text','text':'a'}," + use + "," + mcp + "]}";
        assertEquals(
                message.replace('\'', '"'),
                whole(ModelApi.ANTHROPIC_MESSAGES, message).body());
        String chat = "{'choices':[{'message':{'content':null,'function_call':null,'tool_calls':[{'id':'1','type':"
                + "'function','function':{'name':'Read','arguments':'{}'}}]},'finish_reason':'tool_calls'}]}";
        assertEquals(chat.replace('\'', '"'), whole(ModelApi.OPENAI_CHAT, chat).body());
        kept(ModelApi.OPENAI_CHAT, "data: " + chat + "\n\ndata: [DONE]\n\n");
    }
}
