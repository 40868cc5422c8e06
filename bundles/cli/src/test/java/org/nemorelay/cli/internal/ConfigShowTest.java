package org.nemorelay.cli.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** What is in force in running processes stands beside what the files say, where the two differ or nobody tells. */
class ConfigShowTest {
    private final Map<String, List<Map<String, Object>>> checked = new LinkedHashMap<>();

    ConfigShowTest() {
        checked.put("daemon", List.of(setting("daemon.port", 44801L), setting("daemon.bind", "127.0.0.1")));
        checked.put("worker", List.of(setting("gateway.limit", 5L), setting("worker.host", null)));
        checked.put("plugins", List.of(setting("policy.mode", "strict"), setting("policy.new", true)));
    }

    @Test
    void whatIsTheSameIsToldOnce() {
        assertEquals("", shown("""
                        {"daemon":[{"name":"daemon.port","value":"44801","source":"default"},
                                {"name":"daemon.bind","value":"\\"127.0.0.1\\"","source":"default"}],
                         "workers":[{"worker_id":"w","settings":[{"name":"gateway.limit","value":"5","source":"x"},
                                {"name":"worker.host","value":"","source":"default"},
                                {"name":"policy.mode","value":"\\"strict\\"","source":"x"},
                                {"name":"policy.new","value":"true","source":"x"}]}]}"""));
    }

    @Test
    void whatDiffersIsToldWithItsProcess() {
        assertEquals("""

                # in force in the running daemon instead
                daemon.port = 1  # running in daemon: --port

                # in force in the running worker w instead
                gateway.limit = 6           # running in worker w: config.toml:1:1
                worker.host = "h"           # running in worker w: config.toml:2:1
                policy.mode = "lax"         # running in worker w: plugins.toml:3:1
                policy.old = 1              # running in worker w: plugins.toml:4:1
                # policy.new is not set     # running in worker w: not in force
                """.replaceAll("  +#", "#"), shown("""
                        {"daemon":[{"name":"daemon.port","value":"1","source":"--port"},
                                {"name":"daemon.bind","value":"\\"127.0.0.1\\"","source":"default"}],
                         "workers":[{"worker_id":"w","settings":[
                                {"name":"gateway.limit","value":"6","source":"config.toml:1:1"},
                                {"name":"worker.host","value":"\\"h\\"","source":"config.toml:2:1"},
                                {"name":"policy.mode","value":"\\"lax\\"","source":"plugins.toml:3:1"},
                                {"name":"policy.old","value":"1","source":"plugins.toml:4:1"}]}]}""").replaceAll("  +#", "#"));
    }

    /** No worker is without settings: one that tells none has none that could be shown as missing, and it says so. */
    @Test
    void aWorkerThatTellsNothingIsNamed() {
        assertEquals("""

                # the running worker w does not tell what is in force in it: it is starting, of another version, or has more settings than it can tell (event report_shortened in its log)
                """, shown("""
                        {"daemon":[{"name":"daemon.port","value":"44801","source":"default"},
                                {"name":"daemon.bind","value":"\\"127.0.0.1\\"","source":"default"}],
                         "workers":[{"worker_id":"w","settings":[]}]}"""));
    }

    /** What is shown behind the files' settings. */
    private String shown(String said) {
        JsonObject answer = Json.parseObject(said);
        String files = ConfigShow.text(checked, List.of(), List.of(), true);
        return ConfigShow.text(checked, ConfigShow.running(answer, checked), ConfigShow.silent(answer), true)
                .substring(files.length());
    }

    private static Map<String, Object> setting(String name, Object value) {
        Map<String, Object> setting = new LinkedHashMap<>();
        setting.put("name", name);
        setting.put("value", value);
        setting.put("source", "file");
        return setting;
    }
}
