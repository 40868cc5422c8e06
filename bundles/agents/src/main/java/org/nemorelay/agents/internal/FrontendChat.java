package org.nemorelay.agents.internal;

import java.time.Duration;
import java.util.List;
import org.nemorelay.fleet.FrontendClient;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.RefusedException;

/** The models of a frontend. */
record FrontendChat(FrontendClient frontend, Duration limit) implements Chat {
    @Override
    public String ask(Context context, String model, String prompt) {
        FrontendClient.Answer answer = frontend.post(
                context,
                "/v1/chat/completions",
                Json.object("model", model, "messages", List.of(Json.object("role", "user", "content", prompt))),
                limit);
        try {
            if (answer.status() != 200) {
                throw new RefusedException(answer.body().object("error").string("message"));
            }
            JsonObject choice = answer.body().objects("choices").getFirst();
            return choice.object("message").string("content");
        } catch (JsonException e) {
            throw new RefusedException(
                    "the frontend answered with status " + answer.status() + " and something else: " + e.getMessage());
        }
    }
}
