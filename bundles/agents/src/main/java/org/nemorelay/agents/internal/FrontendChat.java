package org.nemorelay.agents.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.nemorelay.fleet.FrontendClient;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.RefusedException;

/** The models of a frontend. */
record FrontendChat(FrontendClient frontend, Duration limit) implements Chat {
    @Override
    public Turn turn(
            Context context, String model, List<Map<String, Object>> messages, List<Map<String, Object>> tools) {
        Map<String, Object> request = Json.object("model", model, "messages", messages);
        if (!tools.isEmpty()) {
            request.put("tools", tools);
        }
        FrontendClient.Answer answer = frontend.post(context, "/v1/chat/completions", request, limit);
        if (answer.status() != 200) {
            throw new RefusedException(answer.error());
        }
        try {
            List<JsonObject> choices = answer.body().objects("choices");
            if (choices.isEmpty()) {
                throw new JsonException("choices must not be empty");
            }
            return turn(choices.getFirst().object("message"));
        } catch (JsonException e) {
            throw new RefusedException(
                    "the frontend answered with status " + answer.status() + " and something else: " + e.getMessage());
        }
    }

    private static Turn turn(JsonObject message) {
        List<Call> calls = new ArrayList<>();
        for (JsonObject call : message.has("tool_calls") ? message.objects("tool_calls") : List.<JsonObject>of()) {
            JsonObject function = call.object("function");
            calls.add(new Call(
                    call.optionalString("id").orElse(""),
                    function.string("name"),
                    function.optionalString("arguments").orElse("")));
        }
        return calls.isEmpty()
                ? Turn.of(message.string("content"))
                : new Turn(message.optionalString("content").orElse(""), calls);
    }
}
