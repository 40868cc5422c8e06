package org.nemorelay.plugin.toolpolicy.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.nemorelay.plugin.api.StreamEvent;

/**
 * The lines of a stream that are fields of server-sent events, or comments. A reader of events skips every other line, but one
 * that does not care for the answer's content type may read an answer there that nobody has judged. Stateless.
 */
final class Fields {
    private static final Pattern LINE = Pattern.compile("([^\r\n]*)(\r\n|\r|\n|$)");
    private static final Set<String> NAMES = Set.of("data", "event", "id", "retry", "");

    private Fields() {}

    /**
     * The event without lines that are no field, the same where there are none.
     *
     * @throws IllegalStateException where it has no field at all
     */
    static StreamEvent of(StreamEvent event) {
        String text = new String(event.raw(), UTF_8);
        StringBuilder kept = new StringBuilder(text.length());
        boolean field = false;
        boolean other = false;
        Matcher line = LINE.matcher(text);
        while (line.find() && !line.group().isEmpty()) {
            String content = line.group(1);
            String name = line.start() == 0 && content.startsWith("\ufeff") ? content.substring(1) : content;
            int colon = name.indexOf(':');
            boolean known = name.isEmpty() || NAMES.contains(colon < 0 ? name : name.substring(0, colon));
            field |= known && !name.isEmpty();
            other |= !known;
            if (known) {
                kept.append(line.group());
            }
        }
        if (!other) {
            return event;
        }
        if (!field) {
            throw new IllegalStateException("the stream holds lines that are no server-sent event");
        }
        return StreamEvent.ofRaw(event.api(), kept.toString().getBytes(UTF_8));
    }
}
