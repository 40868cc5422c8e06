package org.nemorelay.daemon.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.config.SettingsInForce;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.control.SettingReport;

/** {@code configuration}: the settings in force in the daemon, and in each worker that says so. */
final class ConfigurationVerb implements AdminVerb {
    private final SettingsInForce daemon;
    private final Supplier<Map<String, List<SettingReport>>> workers;

    ConfigurationVerb(SettingsInForce daemon, Supplier<Map<String, List<SettingReport>>> workers) {
        this.daemon = daemon;
        this.workers = workers;
    }

    @Override
    public String name() {
        return "configuration";
    }

    @Override
    public Map<String, Object> run(Map<String, Object> arguments) {
        List<Object> own = new ArrayList<>();
        daemon.settings()
                .forEach(one ->
                        own.add(setting(one.name(), one.value().map(Json::write).orElse(""), one.source())));
        List<Object> all = new ArrayList<>();
        workers.get()
                .forEach((id, settings) -> all.add(Json.object(
                        "worker_id",
                        id,
                        "settings",
                        settings.stream()
                                .map(one -> setting(one.name(), one.value(), one.source()))
                                .toList())));
        return Json.object("daemon", own, "workers", all);
    }

    /** As {@link SettingReport}. */
    private static Map<String, Object> setting(String name, String value, String source) {
        Map<String, Object> setting = new LinkedHashMap<>();
        setting.put("name", name);
        setting.put("value", value);
        setting.put("source", source);
        return setting;
    }
}
