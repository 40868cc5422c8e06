package org.nemorelay.config.internal;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.nemorelay.config.internal.Schema.Setting;

/**
 * Settings in layers, lowest first: defaults, files, environment, flags. Values of a later layer win; a layer that
 * changes a provider's base URL without giving its auth header clears the header of the layers below, so that no
 * provider ever receives another one's credential (plugins 3).
 */
final class Layers {
    private final Map<String, Setting> merged = new TreeMap<>();

    /** Lays a layer over those that are there. */
    Layers over(Map<String, Setting> layer) {
        for (String provider : new String[] {"openai", "anthropic"}) {
            String url = "upstream." + provider + "_base_url";
            String header = "upstream." + provider + "_auth_header";
            if (layer.containsKey(url) && !layer.containsKey(header) && !sameUrl(merged.get(url), layer.get(url))) {
                merged.remove(header);
            }
        }
        merged.putAll(layer);
        return this;
    }

    Map<String, Setting> merged() {
        return Map.copyOf(merged);
    }

    Optional<Object> value(String name) {
        return Optional.ofNullable(merged.get(name)).map(Setting::value);
    }

    private static boolean sameUrl(Setting before, Setting after) {
        return before != null
                && trimmed(before.value().toString())
                        .equals(trimmed(after.value().toString()));
    }

    private static String trimmed(String url) {
        int end = url.length();
        while (end > 0 && url.charAt(end - 1) == '/') {
            end--;
        }
        return url.substring(0, end);
    }

    /** One layer from the environment: which variable gives which setting. Values that are absent are left out. */
    static Map<String, Setting> environment(Map<String, String> environment, Map<String, String> settingOfVariable) {
        Map<String, Setting> layer = new TreeMap<>();
        settingOfVariable.forEach((variable, name) -> {
            String text = environment.get(variable);
            if (text != null) {
                layer.put(name, new Setting(checked(variable, Schema.type(name), text), variable));
            }
        });
        return layer;
    }

    /** One layer from the command line: which flag gives which setting. */
    static Map<String, Setting> flags(Map<String, String> flags, Map<String, String> settingOfFlag) {
        Map<String, Setting> layer = new TreeMap<>();
        settingOfFlag.forEach((flag, name) -> {
            String text = flags.get(flag);
            if (text != null) {
                layer.put(name, new Setting(checked("--" + flag, Schema.type(name), text), "--" + flag));
            }
        });
        return layer;
    }

    private static Object checked(String source, SettingType type, String text) {
        return type.fromText(text).orElseThrow(() -> Failures.of(source + " must be " + type.expected()));
    }
}
