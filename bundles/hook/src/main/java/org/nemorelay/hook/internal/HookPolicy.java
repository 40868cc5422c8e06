package org.nemorelay.hook.internal;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;

/** What becomes of the agent when a hook is not delivered (relay-daemon 0.1, 8). */
public final class HookPolicy {
    static final String VARIABLE = "NEMO_RELAY_FAIL_CLOSED";

    private static final List<String> NAME_KEYS = List.of("hook_event_name", "event_name", "event", "type");

    private HookPolicy() {}

    /**
     * Whether this hook fails closed.
     *
     * @param flag what the command line says; empty where it says nothing
     * @param payload empty where the hook could not be read to its end
     */
    public static boolean failsClosed(
            Optional<Boolean> flag, Map<String, String> environment, Optional<Payload> payload) {
        if (flag.isPresent()) {
            return flag.get();
        }
        return "1".equals(environment.get(VARIABLE)) || payload.isEmpty() || closedEvent(payload.get());
    }

    /** What the variable says where that reads like a yes and yet counts for nothing, as the stock program has it. */
    static Optional<String> ignored(Map<String, String> environment) {
        String word = environment.get(VARIABLE);
        return switch (word) {
            case null -> Optional.empty();
            case "", "0", "1", "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF" -> Optional.empty();
            default -> Optional.of(word);
        };
    }

    /** Whether the event is one that fails closed by itself; one that cannot be told counts as such. */
    public static boolean closedEvent(Payload payload) {
        Map<String, String> names;
        try {
            names = Json.texts(payload.open(), NAME_KEYS);
        } catch (JsonException | OutOfMemoryError | StackOverflowError e) {
            return true;
        }
        for (String key : NAME_KEYS) {
            String name = names.get(key);
            if (name != null) {
                return switch (name) {
                    case "PreToolUse",
                            "PermissionRequest",
                            "pre_tool_call",
                            "tool_call",
                            "toolCall",
                            "user_bash",
                            "userBash" -> true;
                    default -> false;
                };
            }
        }
        return true;
    }
}
