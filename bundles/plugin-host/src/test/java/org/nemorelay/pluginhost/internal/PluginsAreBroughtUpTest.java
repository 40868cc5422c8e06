package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Appending;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Denying;

class PluginsAreBroughtUpTest extends WithHost {
    @Test
    void plannedPluginsOfBothFoldersReceiveEventsAndOthersStayIdle() throws Exception {
        Path one = host.jar("plugins/one.jar", "one", Appending.class, Map.of());
        Path two = host.jar("etc/plugins/two.jar", "two", Appending.class, Map.of());
        Path idle = host.jar("plugins/idle.jar", "idle", Appending.class, Map.of());
        Path first = folder.resolve("first");
        Path second = folder.resolve("second");
        host.plan("one", Optional.empty(), Map.of("file", first.toString()))
                .plan("two", Optional.of(true), Map.of("file", second.toString()));
        start();
        assertTrue(plugins.snapshot().observed());
        plugins.snapshot().publish(event("a"));
        plugins.snapshot().publish(event("b"));
        plugins.snapshot().flush().get(30, TimeUnit.SECONDS);
        assertEquals(List.of("a", "b", "flush"), Files.readAllLines(first));
        assertEquals(List.of("a", "b", "flush"), Files.readAllLines(second));
        assertEquals(
                List.of(
                        new PluginStatus("idle", "1.2.3", State.IDLE, idle.toString(), ""),
                        new PluginStatus("one", "1.2.3", State.ACTIVE, one.toString(), ""),
                        new PluginStatus("two", "1.2.3", State.ACTIVE, two.toString(), "")),
                plugins.status());
    }

    @Test
    void closingLetsSubscribersFinish() throws Exception {
        host.jar("plugins/one.jar", "one", Appending.class, Map.of());
        Path file = folder.resolve("file");
        host.plan("one", Optional.empty(), Map.of("file", file.toString()));
        start();
        for (int i = 0; i < 100; i++) {
            plugins.snapshot().publish(event("e" + i));
        }
        host.stopHost();
        assertEquals(101, Files.readAllLines(file).size());
        assertFalse(plugins.snapshot().observed());
    }

    @Test
    void aPolicyServesFromTheMomentTheHostIsReady() throws Exception {
        host.jar(
                "plugins/one.jar", "one", Denying.class, Map.of("Provide-Capability", "org.nemorelay.plugin;kind=one"));
        host.plan("one", Optional.empty(), Map.of("reason", "not here"));
        start();
        ToolCall call = new ToolCall(
                ToolCall.Agent.PI, "tool_call", "bash", Optional.empty(), Map.of(), JsonObject.of(Map.of(), ""));
        assertEquals(
                Optional.of("not here"),
                plugins.snapshot().rule(call).get(30, TimeUnit.SECONDS).denial());
        assertFalse(plugins.snapshot().observed());
    }

    @Test
    void twoBundlesOfOneSymbolicNameServeBoth() throws Exception {
        Map<String, String> name = Map.of("Bundle-SymbolicName", "same;singleton:=true");
        host.jar("plugins/one.jar", "one", Appending.class, name);
        host.jar("etc/plugins/two.jar", "two", Appending.class, name);
        host.plan("one", Optional.of(true), Map.of("file", folder.resolve("f1").toString()))
                .plan(
                        "two",
                        Optional.of(true),
                        Map.of("file", folder.resolve("f2").toString()));
        start();
        assertEquals(2, plugins.snapshot().eventSinks().size());
    }

    @Test
    void withoutAPlanNothingIsWaitedFor() {
        start();
    }

    static Event event(String name) {
        return Event.of(Map.of(
                "atof_version", "0.1", "kind", "mark", "name", name, "uuid", "u", "timestamp", 1793610000500000L));
    }
}
