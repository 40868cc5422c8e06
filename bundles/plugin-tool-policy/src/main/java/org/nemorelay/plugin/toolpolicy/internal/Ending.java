package org.nemorelay.plugin.toolpolicy.internal;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.plugin.api.ModelApi;

/** What stands in an answer in the place of a tool call that was taken out. Stateless. */
final class Ending {
    private Ending() {}

    static String said(Call call, String reason) {
        return "[The call of the tool " + call.names().getFirst() + " was blocked: " + reason + "]";
    }

    /** A block of Anthropic Messages. */
    static Map<String, Object> block(String text) {
        return Json.object("type", "text", "text", text);
    }

    /** An item of the Responses API. */
    static Map<String, Object> message(Object place, String text) {
        return Json.object(
                "type",
                "message",
                "id",
                "msg_blocked_" + place,
                "status",
                "completed",
                "role",
                "assistant",
                "content",
                List.of(Json.object("type", "output_text", "annotations", List.of(), "text", text)));
    }

    /** Why a model stops that has no call to make, in the place of this reason. */
    static Object reason(ModelApi api, Object reason) {
        boolean call = reason instanceof String word
                && switch (api) {
                    case ANTHROPIC_MESSAGES -> word.equals("tool_use");
                    case OPENAI_CHAT -> word.equals("tool_calls") || word.equals("function_call");
                    case OPENAI_RESPONSES -> false;
                };
        if (!call) {
            return reason;
        }
        return api == ModelApi.ANTHROPIC_MESSAGES ? "end_turn" : "stop";
    }
}
