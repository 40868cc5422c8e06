package org.nemorelay.plugin.api;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonText;

/**
 * One server-sent event of a streamed answer, with the bytes it came in. Immutable, safe for any thread. What a plugin
 * passes on unchanged reaches the agent byte for byte: comments, unknown fields, line ends and all.
 */
public final class StreamEvent {
    /** A byte order mark, a character for a byte. */
    private static final String MARK_BYTES = "\u00ef\u00bb\u00bf";

    private final ModelApi api;
    private final byte[] raw;
    private volatile Fields fields;

    private record Fields(Optional<String> name, Optional<String> data, Optional<JsonText> json) {}

    private StreamEvent(ModelApi api, byte[] raw) {
        this.api = Objects.requireNonNull(api, "an event without an API");
        this.raw = Objects.requireNonNull(raw, "an event without bytes");
    }

    /** An event as it stands in the stream, the blank line that ends it included; the bytes must not be changed afterwards. */
    public static StreamEvent ofRaw(ModelApi api, byte[] raw) {
        return new StreamEvent(api, raw);
    }

    /** An event made of its name and data; without a name for Chat Completions, which has none. */
    public static StreamEvent of(ModelApi api, Optional<String> name, String data) {
        StringBuilder text = new StringBuilder(data.length() + 64);
        name.ifPresent(word -> text.append("event: ").append(word).append('\n'));
        for (String line : data.split("\r\n|\r|\n", -1)) {
            text.append("data: ").append(line).append('\n');
        }
        return new StreamEvent(api, text.append('\n').toString().getBytes(StandardCharsets.UTF_8));
    }

    /** An event of JSON, named by its {@code type} as Anthropic Messages and Responses name theirs. */
    public static StreamEvent of(ModelApi api, JsonText data) {
        Optional<String> type = api == ModelApi.OPENAI_CHAT ? Optional.empty() : data.string("/type");
        return of(api, type, new String(data.bytes(), StandardCharsets.UTF_8));
    }

    public ModelApi api() {
        return api;
    }

    /** The event's bytes, a copy. */
    public byte[] raw() {
        return raw.clone();
    }

    /** The number of its bytes. */
    public int length() {
        return raw.length;
    }

    /** The {@code event:} field. */
    public Optional<String> name() {
        return fields().name();
    }

    /** The {@code data:} lines joined; empty for a comment. */
    public Optional<String> data() {
        return fields().data();
    }

    /** The data as JSON; empty for a comment, {@code [DONE]} and whatever is no JSON. */
    public Optional<JsonText> json() {
        return fields().json();
    }

    /** What kind of event it is: the {@code type} of its data, else its name; empty for neither. */
    public String type() {
        return json().flatMap(text -> text.string("/type")).or(this::name).orElse("");
    }

    /**
     * The model's text in this event: the piece that it adds, and in events that repeat what came before (Responses has
     * several) that too.
     */
    public List<Part.Text> texts() {
        return json().map(text -> TypedJson.texts(api, TypedJson.object(text.value())))
                .orElse(List.of());
    }

    /** The tokens that the provider counted, in the events that tell. */
    public Optional<Usage> usage() {
        return json().flatMap(text -> TypedJson.usage(
                api,
                text.at("/usage")
                        .or(() -> text.at("/message/usage"))
                        .or(() -> text.at("/response/usage"))
                        .orElse("")));
    }

    /** With other data; every other line of the event stays. */
    public StreamEvent withData(JsonText data) {
        // A character for a byte: other lines stay as they are, whatever they hold.
        String text = new String(raw, StandardCharsets.ISO_8859_1);
        String replacement = new String(data.bytes(), StandardCharsets.ISO_8859_1);
        StringBuilder changed = new StringBuilder(text.length() + 64);
        List<String> fields = new ArrayList<>();
        int place = -1;
        String lineEnd = "\n";
        int at = text.startsWith(MARK_BYTES) ? MARK_BYTES.length() : 0;
        changed.append(text, 0, at);
        while (at < text.length()) {
            int end = lineEnd(text, at);
            int next = nextLine(text, end);
            String line = text.substring(at, end);
            boolean mine = line.equals("data") || line.startsWith("data:");
            if (place < 0 && (mine || line.isEmpty())) {
                place = changed.length();
                lineEnd = text.substring(end, next);
            }
            if (mine) {
                fields.add(line.startsWith("data: ") || line.equals("data") ? "data: " : "data:");
            } else {
                changed.append(text, at, next);
            }
            at = next;
        }
        changed.insert(place < 0 ? changed.length() : place, written(replacement, fields, lineEnd));
        return new StreamEvent(api, changed.toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Each line of the data behind what stood before the line in its place. */
    private static String written(String data, List<String> fields, String lineEnd) {
        StringBuilder out = new StringBuilder(data.length() + 64);
        String field = "data: ";
        int number = 0;
        for (String line : data.split("\r\n|\r|\n", -1)) {
            field = number < fields.size() ? fields.get(number) : field;
            out.append(field).append(line).append(lineEnd);
            number++;
        }
        return out.toString();
    }

    /** With another text in the place of one that was read from this event. */
    public StreamEvent withText(Part.Text part, String text) {
        return withData(json().orElseThrow(() -> new IllegalStateException("the event holds no JSON"))
                .with(part.pointer(), text));
    }

    /** Its type alone. */
    @Override
    public String toString() {
        return api.word() + " " + type();
    }

    private Fields fields() {
        Fields known = fields;
        if (known == null) {
            known = read();
            fields = known;
        }
        return known;
    }

    private Fields read() {
        String text = new String(raw, StandardCharsets.UTF_8);
        Optional<String> name = Optional.empty();
        StringBuilder data = null;
        int at = begin(text);
        while (at < text.length()) {
            int end = lineEnd(text, at);
            if (text.startsWith("data:", at)) {
                int from = at + (text.startsWith("data: ", at) ? 6 : 5);
                data = data == null ? new StringBuilder() : data.append('\n');
                data.append(text, from, end);
            } else if (text.startsWith("event:", at)) {
                name = Optional.of(text.substring(at + (text.startsWith("event: ", at) ? 7 : 6), end));
            }
            at = nextLine(text, end);
        }
        Optional<String> joined = Optional.ofNullable(data).map(StringBuilder::toString);
        return new Fields(name, joined, joined.flatMap(StreamEvent::jsonOf));
    }

    private static Optional<JsonText> jsonOf(String data) {
        if (!data.stripLeading().startsWith("{")) {
            return Optional.empty();
        }
        JsonText text = JsonText.of(data);
        try {
            text.object();
            return Optional.of(text);
        } catch (JsonException e) {
            return Optional.empty();
        }
    }

    /** A byte order mark may begin a stream, and means nothing. */
    private static int begin(String text) {
        return text.startsWith("\ufeff") ? 1 : 0;
    }

    private static int lineEnd(String text, int from) {
        int at = from;
        while (at < text.length() && text.charAt(at) != '\n' && text.charAt(at) != '\r') {
            at++;
        }
        return at;
    }

    private static int nextLine(String text, int end) {
        if (end >= text.length()) {
            return end;
        }
        return text.startsWith("\r\n", end) ? end + 2 : end + 1;
    }
}
