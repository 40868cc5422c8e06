package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.osgi.framework.Bundle;

/** A host of its own for each test, and what a test asks of its plugins. */
abstract class WithHost {
    static final Optional<Boolean> BY_KIND = Optional.empty();
    static final Optional<Boolean> OPTIONAL = Optional.of(false);

    @TempDir
    Path folder;

    HostUnderTest host;
    PluginHostComponent plugins;

    /** For plugins that do nothing before it is there; made when the test ends, if not by the test. */
    Path release;

    @BeforeEach
    void open() throws Exception {
        host = new HostUnderTest(folder);
        release = folder.resolve("release");
    }

    @AfterEach
    void close() throws Exception {
        if (!Files.exists(release)) {
            Files.createFile(release);
        }
        host.close();
    }

    /** Starts the host, whose plugins are well. */
    void start() {
        plugins = host.start();
        assertEquals(Optional.empty(), host.failure());
    }

    /** The headers of a jar whose plugin is no observer, with others: name, value. */
    static Map<String, String> policies(String kind, String... others) {
        Map<String, String> headers = new HashMap<>();
        headers.put("Provide-Capability", "org.nemorelay.plugin;kind=" + kind + ";observer=false");
        for (int i = 0; i < others.length; i += 2) {
            headers.put(others[i], others[i + 1]);
        }
        return headers;
    }

    /** The headers of a jar with an activator. */
    static Map<String, String> activatedBy(Class<?> activator) {
        return Map.of(
                "Import-Package",
                "org.nemorelay.plugin.api,org.osgi.framework",
                "Bundle-Activator",
                activator.getName());
    }

    /** Of plugins, in every state. */
    List<Bundle> bundles() {
        return Arrays.stream(host.context().getBundles())
                .filter(Generation::isPlugin)
                .toList();
    }

    PluginStatus state(String kind) {
        return plugins.status().stream()
                .filter(one -> one.kind().equals(kind))
                .findFirst()
                .orElse(new PluginStatus(kind, "", State.IDLE, "", "not there"));
    }

    Optional<String> reason() {
        return plugins.snapshot().rule(call()).join().denial();
    }

    /** Of each policy that is in force. */
    List<String> reasons() {
        return plugins.snapshot().policies().stream()
                .map(gate -> gate.judge(call(), 5_000).join().denial().orElse("none"))
                .sorted()
                .toList();
    }

    void awaitReason(String reason) throws InterruptedException {
        host.await(() -> reason().equals(Optional.of(reason)), () -> reason() + " " + plugins.status() + host.log);
    }

    /** A line of the log begins like this by now. */
    void logged(String start) {
        assertTrue(host.log.stream().anyMatch(line -> line.startsWith(start)), () -> start + " not in " + host.log);
    }

    static ToolCall call() {
        return new ToolCall(
                ToolCall.Agent.CODEX, "PreToolUse", "Bash", Optional.empty(), Map.of(), JsonObject.of(Map.of(), ""));
    }
}
