package org.nemorelay.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * JSON text that can be edited: an edit changes the bytes of the value it names and no others. Order, white space, the
 * spelling of numbers and strings and every member that nobody asked for stay as they are. Places are named by JSON
 * pointers (RFC 6901); {@code ""} is the whole text. Immutable, safe for any thread.
 */
public final class JsonText {
    private final byte[] utf8;
    private volatile Object value;
    private volatile boolean parsed;

    private JsonText(byte[] utf8) {
        this.utf8 = utf8;
    }

    /** Over these bytes, which must not be changed afterwards. They are read when somebody asks for a value. */
    public static JsonText of(byte[] utf8) {
        return new JsonText(utf8);
    }

    public static JsonText of(String text) {
        return new JsonText(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The compact text of a value as {@link Json#write} takes it. */
    public static JsonText ofValue(Object value) {
        return of(Json.write(value));
    }

    /** The text's bytes, a copy. */
    public byte[] bytes() {
        return utf8.clone();
    }

    /** The number of bytes. */
    public int length() {
        return utf8.length;
    }

    /**
     * What the text says, as {@link Json} reads it, unmodifiable at every depth.
     *
     * @throws JsonException when it is no JSON
     */
    public Object value() {
        if (!parsed) {
            value = Json.parseFixed(utf8);
            parsed = true;
        }
        return value;
    }

    /**
     * The object that the text is.
     *
     * @throws JsonException when it is something else
     */
    public JsonObject object() {
        return JsonObject.of(value(), "");
    }

    /** The value at a place; empty where there is none, or null. */
    public Optional<Object> at(String pointer) {
        Object at = value();
        for (String token : tokens(pointer)) {
            at = switch (at) {
                case Map<?, ?> map -> map.get(token);
                case List<?> list -> {
                    int index = index(token);
                    yield index >= 0 && index < list.size() ? list.get(index) : null;
                }
                case null, default -> null;
            };
        }
        return Optional.ofNullable(at);
    }

    /** The string at a place; empty where there is something else. */
    public Optional<String> string(String pointer) {
        return at(pointer).filter(String.class::isInstance).map(String.class::cast);
    }

    /**
     * The text with another value at a place. A member that the object lacks is added behind its last one, an element with
     * the index {@code -} or the array's length behind the last one.
     *
     * @throws JsonException when the text is no JSON, or holds no object or array that the place could be in
     */
    public JsonText with(String pointer, Object replacement) {
        value();
        byte[] written = Json.write(replacement).getBytes(StandardCharsets.UTF_8);
        String[] tokens = tokens(pointer);
        if (tokens.length == 0) {
            Place root = new Scanner().root();
            return splice(root.begin, root.end, written);
        }
        Scanner scanner = new Scanner();
        Place parent = parent(scanner, tokens, pointer);
        String last = tokens[tokens.length - 1];
        Children children = scanner.children(parent, last);
        if (children.found != null) {
            return splice(children.found.begin, children.found.end, written);
        }
        boolean object = utf8[parent.begin] == '{';
        if (!object && !last.equals("-") && index(last) != children.count) {
            throw new JsonException("there is no place " + pointer + " in the array");
        }
        String lead = (children.count == 0 ? "" : ",") + (object ? Json.write(last) + ":" : "");
        byte[] before = lead.getBytes(StandardCharsets.UTF_8);
        byte[] both = Arrays.copyOf(before, before.length + written.length);
        System.arraycopy(written, 0, both, before.length, written.length);
        int at = children.count == 0 ? parent.begin + 1 : children.lastEnd;
        return splice(at, at, both);
    }

    /**
     * The text without the member or element at a place, and the same text where there is none.
     *
     * @throws JsonException when the text is no JSON, or the place is the whole text
     */
    public JsonText without(String pointer) {
        value();
        String[] tokens = tokens(pointer);
        if (tokens.length == 0) {
            throw new JsonException("the whole text cannot be removed");
        }
        Scanner scanner = new Scanner();
        Place parent = scanner.root();
        for (int i = 0; i < tokens.length; i++) {
            byte opening = utf8[parent.begin];
            if (opening != '{' && opening != '[') {
                return this;
            }
            Children children = scanner.children(parent, tokens[i]);
            if (children.found == null) {
                return this;
            }
            if (i == tokens.length - 1) {
                if (children.foundIndex > 0) {
                    return splice(children.endBefore, children.found.end, new byte[0]);
                }
                int next = scanner.skipBlanks(children.found.end);
                int end = utf8[next] == ',' ? scanner.skipBlanks(next + 1) : children.found.end;
                return splice(children.foundStart, end, new byte[0]);
            }
            parent = children.found;
        }
        return this;
    }

    /** The pointer of a member or element below another place. */
    public static String pointer(String parent, Object token) {
        return parent + "/" + token.toString().replace("~", "~0").replace("/", "~1");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof JsonText text && Arrays.equals(utf8, text.utf8);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(utf8);
    }

    /** Tells the length alone: the text may hold secrets. */
    @Override
    public String toString() {
        return "JsonText[" + utf8.length + " bytes]";
    }

    private Place parent(Scanner scanner, String[] tokens, String pointer) {
        Place at = scanner.root();
        for (int i = 0; ; i++) {
            if (utf8[at.begin] != '{' && utf8[at.begin] != '[') {
                throw new JsonException("there is no object or array around " + pointer);
            }
            if (i == tokens.length - 1) {
                return at;
            }
            at = scanner.children(at, tokens[i]).found;
            if (at == null) {
                throw new JsonException("there is no object or array around " + pointer);
            }
        }
    }

    private JsonText splice(int begin, int end, byte[] middle) {
        byte[] result = new byte[begin + middle.length + utf8.length - end];
        System.arraycopy(utf8, 0, result, 0, begin);
        System.arraycopy(middle, 0, result, begin, middle.length);
        System.arraycopy(utf8, end, result, begin + middle.length, utf8.length - end);
        return new JsonText(result);
    }

    private static String[] tokens(String pointer) {
        if (pointer.isEmpty()) {
            return new String[0];
        }
        if (pointer.charAt(0) != '/') {
            throw new JsonException("the JSON pointer " + pointer + " must begin with /");
        }
        String[] tokens = pointer.substring(1).split("/", -1);
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = tokens[i].replace("~1", "/").replace("~0", "~");
        }
        return tokens;
    }

    /** Negative for what is no index. */
    private static int index(String token) {
        if (token.isEmpty() || token.length() > 9 || token.length() > 1 && token.charAt(0) == '0') {
            return -1;
        }
        for (int i = 0; i < token.length(); i++) {
            if (token.charAt(i) < '0' || token.charAt(i) > '9') {
                return -1;
            }
        }
        return Integer.parseInt(token);
    }

    /** Where a value stands: from its first byte to behind its last. */
    private record Place(int begin, int end) {}

    /** What was seen on the way to one child. */
    private static final class Children {
        private Place found;
        private int foundIndex;
        /** Of the key, or of the element. */
        private int foundStart;

        private int endBefore;
        private int lastEnd;
        private int count;
    }

    /** Walks over text that is known to be JSON. */
    private final class Scanner {
        Place root() {
            int begin = skipBlanks(hasMark() ? 3 : 0);
            return new Place(begin, skipValue(begin));
        }

        private boolean hasMark() {
            return utf8.length >= 3 && utf8[0] == (byte) 0xEF && utf8[1] == (byte) 0xBB && utf8[2] == (byte) 0xBF;
        }

        Children children(Place parent, String token) {
            boolean object = utf8[parent.begin] == '{';
            int wanted = object ? -1 : index(token);
            Children seen = new Children();
            int at = skipBlanks(parent.begin + 1);
            while (utf8[at] != '}' && utf8[at] != ']') {
                int start = at;
                boolean match;
                if (object) {
                    int keyEnd = skipString(at);
                    match = keyIs(at, keyEnd, token);
                    at = skipBlanks(skipBlanks(keyEnd) + 1);
                } else {
                    match = seen.count == wanted;
                }
                int end = skipValue(at);
                if (match) {
                    seen.found = new Place(at, end);
                    seen.foundIndex = seen.count;
                    seen.foundStart = start;
                    seen.endBefore = seen.lastEnd;
                    return seen;
                }
                seen.count++;
                seen.lastEnd = end;
                at = skipBlanks(end);
                if (utf8[at] == ',') {
                    at = skipBlanks(at + 1);
                }
            }
            return seen;
        }

        private boolean keyIs(int begin, int end, String token) {
            return Json.parse(Arrays.copyOfRange(utf8, begin, end)).equals(token);
        }

        int skipBlanks(int from) {
            int at = from;
            while (at < utf8.length && (utf8[at] == ' ' || utf8[at] == '\t' || utf8[at] == '\n' || utf8[at] == '\r')) {
                at++;
            }
            return at;
        }

        private int skipString(int from) {
            int at = from + 1;
            while (utf8[at] != '"') {
                at += utf8[at] == '\\' ? 2 : 1;
            }
            return at + 1;
        }

        private int skipValue(int from) {
            int depth = 0;
            int at = from;
            do {
                switch (utf8[at]) {
                    case '{', '[' -> {
                        depth++;
                        at++;
                    }
                    case '}', ']' -> {
                        depth--;
                        at++;
                    }
                    case '"' -> at = skipString(at);
                    default -> {
                        at++;
                        if (depth == 0) {
                            while (at < utf8.length && scalar(utf8[at])) {
                                at++;
                            }
                        }
                    }
                }
            } while (depth > 0);
            return at;
        }

        private boolean scalar(byte b) {
            return b != ',' && b != '}' && b != ']' && b != ' ' && b != '\t' && b != '\n' && b != '\r';
        }
    }
}
