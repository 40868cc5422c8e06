package org.nemorelay.plugin.api;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A message of a conversation. The APIs' instructions beside the conversation are one with the role {@code system}.
 *
 * @param role the API's own word: {@code system}, {@code developer}, {@code user}, {@code assistant}, {@code tool}
 * @param parts in order
 */
public record Message(String role, List<Part> parts) {
    public Message {
        parts = List.copyOf(parts);
    }

    /** The text parts, one after the other. */
    public String text() {
        return parts.stream()
                .filter(Part.Text.class::isInstance)
                .map(part -> ((Part.Text) part).text())
                .collect(Collectors.joining());
    }
}
