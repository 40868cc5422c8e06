package org.nemorelay.example.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.testkit.PluginRig;

class AuditLogTest {
    @TempDir
    Path folder;

    @Test
    void aToolCallThatBeginsIsOneLine() throws Exception {
        Path file = folder.resolve("audit.jsonl");
        AuditLog plugin = new AuditLog(Map.of("file", file.toString()));
        try (PluginRig rig = PluginRig.of(plugin)) {
            rig.record(scope("start"));
            rig.record(scope("end"));
        }
        plugin.flush();
        assertEquals(
                List.of("{\"time\":\"2026-11-02T09:00:00+00:00\",\"what\":\"tool\",\"name\":\"Bash\",\"model\":\"\","
                        + "\"agent\":\"codex\",\"session\":\"s1\"}"),
                Files.readAllLines(file));
        plugin.close();
    }

    @Test
    void everyUserHasAFile() throws Exception {
        AuditLog plugin = new AuditLog(Map.of("file", folder.resolve("audit-{user}.jsonl").toString()));
        plugin.close();
        assertTrue(Files.exists(folder.resolve("audit-" + System.getProperty("user.name") + ".jsonl")));
    }

    @Test
    void aFileThatCannotBeOpenedIsNamed() {
        var failure = assertThrows(
                PluginConfigException.class,
                () -> new AuditLog(Map.of("file", folder.resolve("no/such/folder").toString())));
        assertEquals("file", failure.key());
    }

    private static Event scope(String category) {
        return Event.of(Map.of(
                "kind", "scope",
                "atof_version", "0.1",
                "scope_category", category,
                "uuid", "0199a000-0000-7000-8000-000000000001",
                "timestamp", "2026-11-02T09:00:00+00:00",
                "name", "Bash",
                "category", "tool",
                "attributes", List.of(),
                "metadata", Map.of("agent_kind", "codex", "session_id", "s1")));
    }
}
