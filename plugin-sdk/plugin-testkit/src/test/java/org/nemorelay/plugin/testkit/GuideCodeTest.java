package org.nemorelay.plugin.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.ToolCall;

/** All Java in the guide ({@code plugin-sdk/docs}) compiles as it stands there, and does what its page says. */
class GuideCodeTest {
    private static final Path GUIDE = Path.of("../docs");
    private static final Path ARCHETYPE = Path.of("../archetype/src/main/resources/archetype-resources/src/main/java");
    private static final Pattern TOML = Pattern.compile("```toml\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CLASS = Pattern.compile("public final class (\\w+)");
    private static final String IMPORTS = """
            package guide;
            import static org.junit.jupiter.api.Assertions.assertEquals;
            import java.io.*;
            import java.nio.file.*;
            import java.util.*;
            import java.util.concurrent.*;
            import org.nemorelay.plugin.api.*;
            import org.nemorelay.plugin.testkit.*;
            import org.osgi.service.component.annotations.*;
            """;

    /** What a piece of a class or of a method stands in, by its page and place. */
    private static final Map<String, String> AROUND = Map.ofEntries(
            Map.entry("Configuration0", "%s public class Configuration0 {}"),
            Map.entry("EventSanitizer0", "public class EventSanitizer0 implements EventMetadataInjector {%s}"),
            Map.entry("EventSanitizer1", "public class EventSanitizer1 implements EventSanitizer {%s}"),
            Map.entry("ExecutionIntercept0", "public class ExecutionIntercept0 implements ExecutionIntercept {%s}"),
            Map.entry("HookPolicy0", "public class HookPolicy0 implements HookPolicy {%s}"),
            Map.entry("RequestIntercept0", "public class RequestIntercept0 implements RequestIntercept {%s}"),
            Map.entry("RequestIntercept1", """
                    public class RequestIntercept1 implements RequestIntercept {
                        @Override public boolean needsBody() { return true; }
                        @Override public CompletionStage<ModelRequest> rewrite(ModelRequest request) {
                            %s
                            return CompletableFuture.completedStage(changed);
                        }
                    }"""),
            Map.entry("StreamIntercept0", "public class StreamIntercept0 implements StreamIntercept {%s}"),
            Map.entry("Testing0", "public class Testing0 implements Runnable { @Override public void run() {%s} }"));

    @TempDir
    static Path folder;

    private static URLClassLoader compiled;

    @BeforeAll
    static void compiles() throws Exception {
        Map<String, String> sources = new LinkedHashMap<>();
        sources.put(
                "HeaderPlugin",
                Files.readString(ARCHETYPE.resolve("HeaderPlugin.java"))
                        .replace("${package}", "guide")
                        .replace("${kind}", "team_header"));
        try (Stream<Path> pages = Files.list(GUIDE)) {
            for (Path page : pages.sorted().toList()) {
                pieces(page, sources);
            }
        }
        List<String> arguments = new ArrayList<>(
                List.of("-proc:none", "-cp", System.getProperty("java.class.path"), "-d", folder.toString()));
        for (Map.Entry<String, String> source : sources.entrySet()) {
            arguments.add(Files.writeString(folder.resolve(source.getKey() + ".java"), source.getValue())
                    .toString());
        }
        assertEquals(
                0,
                ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)),
                "the guide's Java compiles; what the compiler says is above");
        compiled = new URLClassLoader(new URL[] {folder.toUri().toURL()});
    }

    @AfterAll
    static void close() throws Exception {
        compiled.close();
    }

    private static void pieces(Path page, Map<String, String> sources) throws Exception {
        Matcher block = JAVA.matcher(Files.readString(page));
        for (int i = 0; block.find(); i++) {
            Matcher type = CLASS.matcher(block.group(1));
            String name = type.find()
                    ? type.group(1)
                    : Stream.of(page.getFileName().toString().replace(".md", "").split("-"))
                                    .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                                    .reduce("", String::concat)
                            + i;
            String around = AROUND.getOrDefault(name, "%s");
            assertTrue(around.length() > 2 || block.group(1).contains("class " + name), () -> page + " has more Java");
            sources.put(name, IMPORTS + around.replace("%s", block.group(1)));
        }
    }

    private static Object made(String name) {
        return make(name, new Class<?>[0]);
    }

    private static Object made(String name, Map<String, Object> properties) {
        return make(name, new Class<?>[] {Map.class}, properties);
    }

    private static Object make(String name, Class<?>[] types, Object... arguments) {
        try {
            return compiled.loadClass("guide." + name).getConstructor(types).newInstance(arguments);
        } catch (InvocationTargetException e) {
            throw new AssertionError(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static Exchange sent(Object plugin, ModelRequest request, FakeProvider provider) {
        try (PluginRig rig = PluginRig.of(plugin)) {
            return rig.send(request, provider);
        }
    }

    private static String text(ModelRequest request) {
        return new String(request.body().bytes(), StandardCharsets.UTF_8);
    }

    private static Event event(String category) {
        return Event.of(Map.of(
                "kind", "scope",
                "scope_category", "start",
                "category", category,
                "attributes", List.of(),
                "atof_version", "0.1",
                "uuid", "u",
                "timestamp", "2026-11-30T00:00:00+00:00",
                "name", "n",
                "data", Map.of("text", "x"),
                "metadata", Map.of("session_id", "s")));
    }

    @Test
    void concepts() {
        ModelRequest request = Requests.streamed(ModelApi.OPENAI_CHAT, "hello");
        Exchange exchange = sent(
                made("MyPlugin", Map.of("value", "v")), request, FakeProvider.streams(Recording.text(request.api())));
        assertEquals(Optional.of("v"), exchange.sent().getFirst().headers().first("x-mine"));
    }

    /** The message that the page shows is about the file that it shows. */
    @Test
    void configuration() throws Exception {
        String page = Files.readString(GUIDE.resolve("configuration.md"));
        Matcher toml = TOML.matcher(page);
        assertTrue(toml.find());
        List<String> lines = toml.group(1).lines().toList();
        int line = 1 + lines.indexOf("timeout_millis = 500");
        PluginConfigException failure = assertThrows(
                PluginConfigException.class,
                () -> PluginConfig.of(Map.of("timeout_millis", 0L)).integer("timeout_millis", 500, 1, 60000));
        String told = "/etc/nemo-relay/plugins.toml:" + line + ":1: plugin \"team_header\": " + failure.getMessage();
        assertTrue(page.contains("```\n" + told + "\n```"), told);
    }

    @Test
    void testing() {
        ((Runnable) made("Testing0")).run();
    }

    @Test
    void requestGuardrail() {
        Object plugin = made("AllowedModels", Map.of("models", new String[] {"gpt-x"}));
        ModelRequest allowed = Requests.streamed(ModelApi.OPENAI_RESPONSES, "hello");
        assertEquals(
                "Hello there",
                sent(plugin, allowed, FakeProvider.streams(Recording.text(allowed.api())))
                        .streamedText());
        Exchange denied = sent(
                plugin,
                Requests.streamed(ModelApi.ANTHROPIC_MESSAGES, "hello"),
                FakeProvider.streams(Recording.text(ModelApi.ANTHROPIC_MESSAGES)));
        assertEquals(403, denied.status());
        assertTrue(denied.body().contains("this model is not allowed here; use one of [gpt-x]"), denied.body());
        assertEquals(List.of(), denied.sent());
    }

    @Test
    void requestIntercept() {
        for (ModelApi api : ModelApi.values()) {
            ModelRequest request = Requests.streamed(api, "about ACME-internal things");
            FakeProvider provider = FakeProvider.streams(Recording.text(api));
            assertEquals(
                    Optional.of("blue"),
                    sent(made("RequestIntercept0"), request, provider)
                            .sent()
                            .getFirst()
                            .headers()
                            .first("x-team"));
            RequestIntercept replaces = (RequestIntercept) made("RequestIntercept1");
            assertEquals(
                    text(request).replace("ACME-internal", "the project"),
                    text(sent(replaces, request, provider).sent().getFirst()));
        }
    }

    @Test
    void executionIntercept() {
        ModelRequest request = Requests.streamed(ModelApi.ANTHROPIC_MESSAGES, "hello");
        FakeProvider overloaded = FakeProvider.answers(529, "{\"type\":\"error\"}");
        Exchange exchange = sent(made("ExecutionIntercept0"), request, overloaded);
        assertEquals(529, exchange.status());
        assertEquals(2, exchange.sent().size());
        FakeProvider well = FakeProvider.streams(Recording.text(request.api()));
        assertEquals(1, sent(made("ExecutionIntercept0"), request, well).sent().size());
    }

    @Test
    void streamIntercept() {
        for (ModelApi api : ModelApi.values()) {
            Exchange exchange = sent(
                    made("StreamIntercept0"),
                    Requests.streamed(api, "hello"),
                    FakeProvider.streams(Recording.text(api)));
            assertEquals("HELLO THERE", exchange.streamedText());
            assertFalse(exchange.body().contains("Hello"), exchange.body());
        }
    }

    @Test
    void hookPolicy() {
        try (PluginRig rig = PluginRig.of(made("HookPolicy0"))) {
            for (ToolCall.Agent agent : ToolCall.Agent.values()) {
                assertEquals(Decision.ask("this publishes"), rig.decide(ToolCalls.shell(agent, "git push origin")));
                assertEquals(Decision.allow(), rig.decide(ToolCalls.shell(agent, "git status")));
                assertEquals(Decision.allow(), rig.decide(ToolCalls.of(agent, "Read", Map.of("file_path", "/x"))));
            }
        }
    }

    @Test
    void eventSubscriber() throws Exception {
        Path file = folder.resolve("count");
        Object counter = made("Counter", Map.of("file", file.toString()));
        try (PluginRig rig = PluginRig.of(counter)) {
            rig.record(event("llm"));
            rig.record(event("tool"));
        }
        assertInstanceOf(EventSubscriber.class, counter).flush();
        assertEquals("2 events\n", Files.readString(file));
    }

    @Test
    void eventSanitizerAndMetadataInjector() {
        try (PluginRig rig = PluginRig.of(made("EventSanitizer0"), made("EventSanitizer1"))) {
            Event model = rig.record(event("llm"));
            assertEquals(Optional.of(Map.of("redacted", true)), model.data());
            assertEquals(
                    Map.of("session_id", "s", "acme.team", "blue"),
                    model.metadata().values());
            assertEquals(
                    Optional.of(Map.of("text", "x")), rig.record(event("tool")).data());
        }
    }
}
