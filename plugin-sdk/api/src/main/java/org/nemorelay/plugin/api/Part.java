package org.nemorelay.plugin.api;

import java.util.Map;
import org.nemorelay.json.JsonObject;

/**
 * A piece of a message, read the same way from every API. {@code pointer} says where it stands (RFC 6901) in the body that
 * it was read from, and is good for that body only.
 */
public sealed interface Part {
    String pointer();

    /**
     * Text.
     *
     * @param pointer of the string itself
     */
    record Text(String text, String pointer) implements Part {}

    /**
     * A tool call that the model made.
     *
     * @param id by which its result refers to it; empty where the API gave none
     * @param input the arguments: a JSON value, or the text where a provider sends no JSON
     * @param inputPointer of the arguments, which some APIs hold as a string of JSON
     */
    record ToolUse(String id, String name, Object input, String pointer, String inputPointer) implements Part {
        /** The arguments as an object; empty where they are none. */
        public JsonObject arguments() {
            return JsonObject.of(input instanceof Map<?, ?> ? input : Map.of(), "input");
        }
    }

    /**
     * What a tool gave back.
     *
     * @param content any JSON value; most are text or a list of blocks
     */
    record ToolResult(String id, Object content, String pointer) implements Part {}

    /**
     * Anything else: images, reasoning, types that this version does not know.
     *
     * @param type the API's own word
     */
    record Other(String type, Object value, String pointer) implements Part {}
}
