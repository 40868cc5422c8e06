package org.nemorelay.agents.internal;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.seams.Context;

/** A model that answers. */
@FunctionalInterface
interface Chat {
    /** A tool that the model wants to be run; {@code arguments} is JSON text, as the model wrote it. */
    record Call(String id, String name, String arguments) {}

    /** What the model says: text, or calls of tools whose results it waits for. */
    record Turn(String content, List<Call> calls) {
        static Turn of(String content) {
            return new Turn(content, List.of());
        }
    }

    /**
     * The model's next turn.
     *
     * @param messages so far, in the shape of OpenAI's API
     * @param tools that it may call, in the same
     * @throws org.nemorelay.seams.SeamException when there is none, and why
     */
    Turn turn(Context context, String model, List<Map<String, Object>> messages, List<Map<String, Object>> tools);

    /** The answer to one prompt. */
    default String ask(Context context, String model, String prompt) {
        return turn(context, model, List.of(user(prompt)), List.of()).content();
    }

    static Map<String, Object> user(String content) {
        return Json.object("role", "user", "content", content);
    }
}
