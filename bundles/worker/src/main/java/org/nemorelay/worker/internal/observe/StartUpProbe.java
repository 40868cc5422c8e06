package org.nemorelay.worker.internal.observe;

import static org.nemorelay.worker.internal.observe.StreamedAnswer.objectOf;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;

/**
 * The request by which Claude Code tries its credential when it starts: it is no part of a conversation and leaves no
 * record (plugins.md 1.7). It is told by its body, the only reason to copy one.
 */
final class StartUpProbe {
    private static final int MAX_BYTES = 2048;

    private StartUpProbe() {}

    /** Whether the body must be seen to know. */
    static boolean possible(ModelApi api, long length) {
        return api == ModelApi.ANTHROPIC_MESSAGES && length >= 0 && length <= MAX_BYTES;
    }

    static boolean is(byte[] body) {
        try {
            Map<String, Object> request = objectOf(Json.parse(body));
            return request.get("model") instanceof String model
                    && model.startsWith("claude-")
                    && Long.valueOf(1).equals(request.get("max_tokens"))
                    && request.get("messages") instanceof List<?> messages
                    && messages.size() == 1
                    && "user".equals(objectOf(messages.getFirst()).get("role"))
                    && "test".equals(text(objectOf(messages.getFirst()).get("content")));
        } catch (JsonException e) {
            return false;
        }
    }

    private static Object text(Object content) {
        return content instanceof List<?> blocks && blocks.size() == 1
                ? objectOf(blocks.getFirst()).get("text")
                : content;
    }
}
