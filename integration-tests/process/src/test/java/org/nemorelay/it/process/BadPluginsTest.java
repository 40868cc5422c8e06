package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.ToolCall;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;

/** Every way in which a plugin can be bad, in one worker: each is one line with file and reason, everything else serves (B32). */
@Timeout(180)
class BadPluginsTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    private final Map<String, String> expected = new LinkedHashMap<>();
    private final StringBuilder components = new StringBuilder();

    @Test
    void eachIsNamedAndTheRestServes() throws Exception {
        try (OneUser bench = new OneUser(folder)) {
            Path etc = bench.executable.resolve("../../etc").normalize();
            Path plugins = etc.resolve("plugins");
            Files.createDirectories(plugins);
            Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwxr-xr-x"));
            files(plugins);
            bundles(plugins);
            configurations(plugins);
            new PluginJar("good", Denying.class, HookPolicy.class).deploy(plugins);
            plan("good", "reason = \"good\"");
            Path toml = etc.resolve("plugins.toml");
            String before = Files.readString(toml);
            Files.writeString(toml, before + components);

            try (Relay relay = bench.daemon();
                    McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                relay.awaitReadyWorker(mcp);
                assertEquals("good\n", bench.bashHook(relay).stderr());
                assertEquals(
                        200,
                        RawHttp.post(relay.port(), "/v1/messages", "{}", bench.user.header())
                                .status());
                for (Map.Entry<String, String> line : expected.entrySet()) {
                    Await.until(
                            () -> line + "\nin " + mcp.process().transcript(),
                            LIMIT,
                            () -> mcp.process()
                                    .stderr()
                                    .lines()
                                    .anyMatch(one -> one.contains("plugin_quarantined")
                                            && one.contains(line.getKey())
                                            && one.contains(line.getValue())));
                }
                // One line each, however often the folder is looked at.
                for (Map.Entry<String, String> line : expected.entrySet()) {
                    assertEquals(
                            1,
                            mcp.process()
                                    .stderr()
                                    .lines()
                                    .filter(one -> one.contains("plugin_quarantined")
                                            && one.contains(line.getKey())
                                            && one.contains(line.getValue()))
                                    .count(),
                            line::toString);
                }
                // What the owner of the daemon sees, and what a check without a worker finds.
                List<JsonObject> all = list(bench, relay);
                assertTrue(
                        all.stream()
                                .anyMatch(one -> one.string("kind").equals("good")
                                        && one.string("state").equals("active")),
                        all.toString());
                assertTrue(all.stream()
                        .anyMatch(one -> one.string("file").endsWith("truncated.jar")
                                && one.string("state").equals("quarantined")));
                assertTrue(all.stream().anyMatch(one -> one.string("file").endsWith("notes.txt")));

                // A corrected file takes its place without a restart.
                new PluginJar("throws", Denying.class, HookPolicy.class).deploy(plugins);
                Files.writeString(toml, Files.readString(toml) + "# looked at again\n");
                Await.until(
                        () -> "the corrected plugin is active\n" + list(bench, relay),
                        LIMIT,
                        () -> list(bench, relay).stream()
                                .anyMatch(one -> one.string("kind").equals("throws")
                                        && one.string("state").equals("active")));
            }
        }
    }

    /** What is no usable jar. */
    private void files(Path plugins) throws IOException {
        byte[] whole = Files.readAllBytes(new PluginJar("truncated", Denying.class, HookPolicy.class).deploy(plugins));
        Files.write(plugins.resolve("truncated.jar"), Arrays.copyOf(whole, whole.length / 2));
        expected.put("truncated.jar", "is not a whole jar (");
        try (var jar = new ZipOutputStream(Files.newOutputStream(plugins.resolve("bare.jar")))) {
            jar.putNextEntry(new ZipEntry("x"));
        }
        expected.put("bare.jar", "has no manifest");
        Files.createDirectory(plugins.resolve("folder.jar"));
        expected.put("folder.jar", "is not a file");
        Files.writeString(plugins.resolve("notes.txt"), "mine");
        new PluginJar("exits", Exiting.class, HookPolicy.class).deploy(plugins);
        expected.put("exits.jar", "BadPluginsTest$Exiting calls System.exit");
        new PluginJar("writable", Denying.class, HookPolicy.class).deploy(plugins);
        Files.setPosixFilePermissions(plugins.resolve("writable.jar"), PosixFilePermissions.fromString("rw-rw-r--"));
        expected.put("writable.jar", "can be written by group or others");
    }

    /** What does not resolve or start. */
    private void bundles(Path plugins) {
        optional(
                plugins,
                new PluginJar("lacks", Denying.class, HookPolicy.class)
                        .header("Import-Package", "org.nemorelay.plugin.api,com.missing"),
                "lacks",
                "needs the package com.missing, which nothing here provides");
        optional(
                plugins,
                new PluginJar("future", Denying.class, HookPolicy.class)
                        .header("Import-Package", "org.nemorelay.plugin.api;version=\"[9.0,10)\""),
                "future",
                "needs the package org.nemorelay.plugin.api in version 9.0.0 or later, below 10.0.0");
        optional(
                plugins,
                new PluginJar("throws", Throwing.class, HookPolicy.class),
                "throws",
                "does not start: java.lang.IllegalStateException: on purpose");
        optional(
                plugins,
                new PluginJar("activator", Failing.class, HookPolicy.class)
                        .header("Import-Package", "org.nemorelay.plugin.api,org.osgi.framework")
                        .header("Bundle-Activator", Failing.class.getName()),
                "activator",
                "does not start: java.lang.IllegalStateException: no activation");
        optional(
                plugins,
                new PluginJar("many", Crowd.class, HookPolicy.class)
                        .header("Import-Package", "org.nemorelay.plugin.api,org.osgi.framework")
                        .header("Bundle-Activator", Crowd.class.getName()),
                "many",
                "registers 1000");
        new PluginJar("blocks", Blocking.class, HookPolicy.class).deploy(plugins);
        plan("blocks", "");
    }

    /** What its configuration does not suit. */
    private void configurations(Path plugins) {
        for (Map.Entry<String, String> config : Map.of(
                        "wrong", "reason = 5",
                        "unknown", "reason = \"x\"\nraeson = \"y\"",
                        "missing", "")
                .entrySet()) {
            new PluginJar(config.getKey(), Denying.class, HookPolicy.class).deploy(plugins);
            plan(config.getKey(), config.getValue());
        }
        expected.put("plugin \"wrong\"", "reason: must be a string");
        expected.put("plugin \"unknown\"", "raeson: unknown key; known here: reason");
        expected.put("plugin \"missing\"", "reason: missing; a string is needed");
    }

    private void optional(Path plugins, PluginJar jar, String kind, String reason) {
        jar.deploy(plugins);
        plan(kind, "reason = \"x\"");
        expected.put("plugin \"" + kind + "\"", reason);
    }

    private void plan(String kind, String config) {
        components.append("[[components]]\nkind = \"").append(kind).append("\"\nrequired = false\n");
        components.append("[components.config]\n").append(config).append('\n');
    }

    private static List<JsonObject> list(OneUser bench, Relay relay) {
        Proc.Result result = bench.user
                .withToken(bench.executable.toString(), "plugins", "list", "--json", "--port", "" + relay.port())
                .run(LIMIT);
        assertEquals(0, result.exit(), result.stderr());
        List<JsonObject> all = new ArrayList<>();
        ((List<?>) Json.parse(result.stdout().getBytes(StandardCharsets.UTF_8)))
                .forEach(one -> all.add(JsonObject.of(one, "")));
        return all;
    }

    /** A good one. */
    public static final class Denying implements HookPolicy {
        private final String reason;

        public Denying(Map<String, Object> properties) {
            PluginConfig config = PluginConfig.of(properties).only("reason");
            reason = config.string("reason");
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.deny(reason));
        }
    }

    /** Would end the worker. */
    public static final class Exiting extends Allowing {
        public Exiting(Map<String, Object> properties) {
            System.exit(1);
        }
    }

    /** Does not start. */
    public static final class Throwing extends Allowing {
        public Throwing(Map<String, Object> properties) {
            throw new IllegalStateException("on purpose");
        }
    }

    /** Its activator throws. */
    public static final class Failing extends Allowing implements BundleActivator {
        @Override
        public void start(BundleContext context) {
            throw new IllegalStateException("no activation");
        }

        @Override
        public void stop(BundleContext context) {}
    }

    /** Registers far too many services. */
    public static final class Crowd extends Allowing implements BundleActivator {
        @Override
        public void start(BundleContext context) {
            for (int i = 0; i < 10_000; i++) {
                context.registerService(HookPolicy.class, this, null);
            }
        }

        @Override
        public void stop(BundleContext context) {}
    }

    /** Never starts and heeds no interrupt. */
    public static final class Blocking extends Allowing {
        public Blocking(Map<String, Object> properties) {
            while (true) {
                LockSupport.parkNanos(1_000_000_000);
                Thread.interrupted();
            }
        }
    }
}
