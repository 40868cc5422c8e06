package org.nemorelay.plugin.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonText;

/**
 * Random bodies and events of the three APIs, with unknown members, any order of keys, any white space, any spelling of
 * numbers, strings and keys: an edit through the typed view changes the bytes of the value that it names and no others.
 */
class EditsChangeNothingElseTest {
    private static final String NEW = "new \"text\" \u00e9\n";

    /** A text with values in it that can be exchanged. */
    private static final class Template {
        private final Random random;
        private final Map<String, String> literals = new LinkedHashMap<>();

        Template(long seed) {
            random = new Random(seed);
        }

        /** A place for a string, which is unique in the text. */
        String hole(String value) {
            String unique = value + literals.size();
            literals.put(unique, string(unique));
            return mark(unique);
        }

        private static String mark(String value) {
            return "\u0001" + value + "\u0001";
        }

        String filled(String template) {
            return filled(template, "", "");
        }

        /** With another literal in one place. */
        String filled(String template, String value, String literal) {
            String text = template;
            for (Map.Entry<String, String> each : literals.entrySet()) {
                text = text.replace(mark(each.getKey()), each.getKey().equals(value) ? literal : each.getValue());
            }
            return text;
        }

        String space() {
            StringBuilder space = new StringBuilder();
            for (int i = random.nextInt(3); i > 0; i--) {
                space.append(" \t\n\r ".charAt(random.nextInt(5)));
            }
            return space.toString();
        }

        /** A string's literal in one of its spellings. */
        String string(String value) {
            StringBuilder literal = new StringBuilder("\"");
            value.codePoints().forEach(c -> {
                if (c < 0x20 || c == '"' || c == '\\' || random.nextInt(6) == 0) {
                    for (char half : Character.toChars(c)) {
                        literal.append(String.format(random.nextBoolean() ? "\\u%04x" : "\\u%04X", (int) half));
                    }
                } else if (c == '/' && random.nextBoolean()) {
                    literal.append("\\/");
                } else {
                    literal.appendCodePoint(c);
                }
            });
            return literal.append('"').toString();
        }

        String any(int depth) {
            return switch (random.nextInt(depth > 2 ? 5 : 7)) {
                case 0 ->
                    List.of("1.0", "1e5", "-0", "0.10", "1E+2", "123456789012345678901234567890", "1.50e-3")
                            .get(random.nextInt(7));
                case 1 -> "null";
                case 2 -> "true";
                case 3 -> string("x/\u00e9\ud83d\ude00\"" + random.nextInt(100));
                case 4 -> Integer.toString(random.nextInt());
                case 5 ->
                    array(Stream.generate(() -> any(depth + 1))
                            .limit(random.nextInt(4))
                            .toList());
                default -> object(depth + 1, List.of());
            };
        }

        /** With members that nobody knows among those that are given, in any order. */
        String object(int depth, List<String[]> members) {
            List<String[]> all = new ArrayList<>(members);
            for (int i = random.nextInt(3); i > 0; i--) {
                all.add(new String[] {"unknown_" + i, any(depth)});
            }
            Collections.shuffle(all, random);
            List<String> written = new ArrayList<>();
            for (String[] member : all) {
                written.add(string(member[0]) + space() + ":" + space() + member[1]);
            }
            return "{" + space() + String.join(space() + "," + space(), written) + space() + "}";
        }

        String array(List<String> items) {
            return "[" + space() + String.join(space() + "," + space(), items) + space() + "]";
        }

        String text() {
            return hole("te/xt");
        }

        String content(String type) {
            if (random.nextBoolean()) {
                return text();
            }
            List<String> blocks = new ArrayList<>();
            for (int i = random.nextInt(4); i > 0; i--) {
                blocks.add(
                        random.nextInt(4) == 0
                                ? object(2, List.<String[]>of(member("type", "of_later_versions")))
                                : object(2, List.of(member("type", type), new String[] {"text", text()})));
            }
            return array(blocks);
        }

        String[] member(String key, String value) {
            return new String[] {key, string(value)};
        }
    }

    private static String request(Template template, ModelApi api) {
        boolean responses = api == ModelApi.OPENAI_RESPONSES;
        List<String> messages = new ArrayList<>();
        for (int i = template.random.nextInt(4); i >= 0; i--) {
            messages.add(
                    template.random.nextInt(5) == 0
                            ? template.object(1, List.<String[]>of(template.member("type", "of_later_versions")))
                            : template.object(
                                    1,
                                    List.of(template.member("role", i % 2 == 0 ? "user" : "assistant"), new String[] {
                                        "content", template.content(responses ? "input_text" : "text")
                                    })));
        }
        List<String[]> members = new ArrayList<>();
        members.add(new String[] {"model", template.hole("model")});
        members.add(new String[] {responses ? "input" : "messages", template.array(messages)});
        if (api == ModelApi.ANTHROPIC_MESSAGES) {
            members.add(new String[] {"system", template.content("text")});
        }
        if (responses) {
            members.add(new String[] {"instructions", template.text()});
        }
        members.add(new String[] {
            "tools",
            template.array(List.of(
                    template.object(1, List.<String[]>of(new String[] {"name", template.hole("tool")})),
                    template.object(1, List.<String[]>of(new String[] {"name", template.hole("tool")}))))
        });
        return template.space() + template.object(0, members) + template.space();
    }

    private static String bytes(JsonText text) {
        return new String(text.bytes(), StandardCharsets.UTF_8);
    }

    @Property(tries = 300)
    void ofRequests(@ForAll long seed, @ForAll ModelApi api) {
        Template template = new Template(seed);
        String body = request(template, api);
        String original = template.filled(body);
        ModelRequest request = ModelRequest.of(api, "/v1/x", HeaderMap.of(), JsonText.of(original));
        assertEquals(original, bytes(request.body()));
        assertTrue(request.readable());
        String model = request.model().orElseThrow();
        assertEquals(
                template.filled(body, model, Json.write(NEW)),
                bytes(request.withModel(NEW).body()));
        List<Part.Text> texts = request.messages().stream()
                .flatMap(message -> message.parts().stream())
                .filter(Part.Text.class::isInstance)
                .map(Part.Text.class::cast)
                .toList();
        assertEquals(
                template.literals.keySet().stream()
                        .filter(value -> value.startsWith("te/xt"))
                        .count(),
                texts.size());
        for (Part.Text text : texts) {
            assertEquals(
                    template.filled(body, text.text(), Json.write(NEW)),
                    bytes(request.withText(text, NEW).body()));
        }
        // What is added or taken away leaves everything around it.
        String tools = bytes(request.withoutTool(request.tools().getFirst()).body());
        String name = request.tools().getFirst().name();
        assertEquals(List.of(request.tools().getLast().name()), names(tools, api));
        around(template.filled(body, name, "\u0001"), tools);
        ModelRequest more = request.withMessage("user", NEW);
        assertEquals(NEW, more.messages().getLast().text());
        assertEquals(request.messages().size() + 1, more.messages().size());
        String added = bytes(more.body());
        int at = 0;
        while (at < original.length() && original.charAt(at) == added.charAt(at)) {
            at++;
        }
        assertTrue(added.endsWith(original.substring(at)), added);
    }

    private static List<String> names(String body, ModelApi api) {
        return ModelRequest.of(api, "/v1/x", HeaderMap.of(), JsonText.of(body)).tools().stream()
                .map(Tool::name)
                .toList();
    }

    /** The text is what it was before the element with the mark, and behind it. */
    private static void around(String marked, String changed) {
        int before = 0;
        while (before < changed.length() && marked.charAt(before) == changed.charAt(before)) {
            before++;
        }
        assertTrue(before <= marked.indexOf('\u0001'));
        assertTrue(marked.endsWith(changed.substring(before)), () -> marked + " and " + changed);
    }

    @Property(tries = 200)
    void ofAnswers(@ForAll long seed, @ForAll ModelApi api) {
        Template template = new Template(seed);
        String body = template.object(
                0,
                List.<String[]>of(
                        switch (api) {
                            case ANTHROPIC_MESSAGES -> new String[] {"content", template.content("text")};
                            case OPENAI_CHAT ->
                                new String[] {
                                    "choices",
                                    template.array(List.of(template.object(1, List.<String[]>of(new String[] {
                                        "message",
                                        template.object(
                                                2,
                                                List.<String[]>of(new String[] {"content", template.content("text")}))
                                    }))))
                                };
                            case OPENAI_RESPONSES ->
                                new String[] {
                                    "output",
                                    template.array(List.of(
                                            template.object(
                                                    1, List.<String[]>of(template.member("type", "of_later_versions"))),
                                            template.object(
                                                    1, List.of(template.member("type", "message"), new String[] {
                                                        "content", template.content("output_text")
                                                    }))))
                                };
                        }));
        ModelResponse.Whole answer = ModelResponse.of(api, 200, JsonText.of(template.filled(body)));
        for (Part part : answer.output()) {
            if (part instanceof Part.Text text) {
                assertEquals(
                        template.filled(body, text.text(), Json.write(NEW)),
                        bytes(answer.withText(text, NEW).body()));
            }
        }
    }

    @Property(tries = 300)
    void ofEvents(@ForAll long seed, @ForAll ModelApi api) {
        Template template = new Template(seed);
        String data = template.object(
                        0,
                        switch (api) {
                            case ANTHROPIC_MESSAGES ->
                                List.of(template.member("type", "content_block_delta"), new String[] {
                                    "delta",
                                    template.object(1, List.<String[]>of(new String[] {"text", template.text()}))
                                });
                            case OPENAI_CHAT ->
                                List.<String[]>of(new String[] {
                                    "choices",
                                    template.array(List.of(template.object(1, List.<String[]>of(new String[] {
                                        "delta",
                                        template.object(2, List.<String[]>of(new String[] {"content", template.text()}))
                                    }))))
                                });
                            case OPENAI_RESPONSES ->
                                List.of(
                                        template.member("type", "response.output_text.delta"),
                                        new String[] {"delta", template.text()});
                        })
                // A carriage return ends a line of the stream, whatever stands around it.
                .replace('\r', '\t');
        String end = List.of("\n", "\r\n", "\r").get(template.random.nextInt(3));
        String field = template.random.nextBoolean() ? "data: " : "data:";
        List<String> lines = new ArrayList<>(List.of(field + data.replace("\n", "\n" + field)));
        for (String other :
                List.of("event: of_later_versions", ": comment", "id: 7", "retry:3", "unknown: x", "unknown")) {
            if (template.random.nextBoolean()) {
                lines.add(template.random.nextInt(lines.size() + 1), other);
            }
        }
        String raw = String.join("\n", lines).replace("\n", end) + end + end;
        StreamEvent event = StreamEvent.ofRaw(api, template.filled(raw).getBytes(StandardCharsets.UTF_8));
        assertEquals(1, event.texts().size(), raw);
        Part.Text text = event.texts().getFirst();
        String changed = new String(event.withText(text, NEW).raw(), StandardCharsets.UTF_8);
        assertEquals(template.filled(raw, text.text(), Json.write(NEW)), changed);
    }

    /** Readers differ in which of two members of one name they take, so a plugin is shown neither. */
    @Test
    void aBodyThatSaysTheSameTwiceIsNotReadable() {
        String twice = "{\"model\":\"a\",\"metadata\":{\"a\":1,\"a\":2}}";
        ModelRequest request = ModelRequest.of(ModelApi.OPENAI_CHAT, "/v1/x", HeaderMap.of(), JsonText.of(twice));
        assertFalse(request.readable());
        assertEquals(twice, bytes(request.body()));
        StreamEvent event =
                StreamEvent.ofRaw(ModelApi.OPENAI_CHAT, ("data: " + twice + "\n\n").getBytes(StandardCharsets.UTF_8));
        assertTrue(event.json().isEmpty());
        assertEquals("data: " + twice + "\n\n", new String(event.raw(), StandardCharsets.UTF_8));
    }
}
