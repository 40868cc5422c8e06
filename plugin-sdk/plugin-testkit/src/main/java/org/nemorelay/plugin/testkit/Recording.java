package org.nemorelay.plugin.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.nemorelay.plugin.api.ModelApi;

/**
 * A provider's streamed answer.
 *
 * @param chunks as they come from the network; where they are cut says nothing about where events end
 */
public record Recording(ModelApi api, List<String> chunks) {
    public Recording {
        chunks = List.copyOf(chunks);
    }

    /** The text "Hello there". */
    public static Recording text(ModelApi api) {
        return load(api, "text");
    }

    /** A call of the tool {@code Bash} with {@code {"command":"ls /tmp"}}, its arguments in pieces. */
    public static Recording toolCall(ModelApi api) {
        return load(api, "tool");
    }

    /** The same stream, a chunk for every so many characters. */
    public Recording cutEvery(int characters) {
        String all = String.join("", chunks);
        List<String> cut = new ArrayList<>();
        for (int at = 0; at < all.length(); at += characters) {
            cut.add(all.substring(at, Math.min(all.length(), at + characters)));
        }
        return new Recording(api, cut);
    }

    /** The whole stream. */
    public String text() {
        return String.join("", chunks);
    }

    private static Recording load(ModelApi api, String name) {
        String file = api.word() + "-" + name + ".sse";
        try (InputStream in = Recording.class.getResourceAsStream(file)) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            List<String> events = new ArrayList<>();
            for (String event : text.split("(?<=\n\n)")) {
                events.add(event);
            }
            return new Recording(api, events);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
