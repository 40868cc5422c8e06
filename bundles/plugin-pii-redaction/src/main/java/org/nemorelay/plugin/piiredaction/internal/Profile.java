package org.nemorelay.plugin.piiredaction.internal;

import java.util.ArrayList;
import java.util.List;
import org.nemorelay.plugin.api.PluginConfig;

/** One {@code builtin} section: a treatment, and where it applies. Immutable. */
final class Profile {
    private final Treatment treatment;
    private final List<List<String>> paths;

    Profile(PluginConfig config) {
        config.only(
                "action",
                "target_paths",
                "pattern",
                "detector",
                "replacement",
                "mask_char",
                "unmasked_prefix",
                "unmasked_suffix",
                "preset",
                "custom_mark_payload_policy");
        for (String key : List.of("preset", "custom_mark_payload_policy")) {
            if (config.has(key)) {
                throw config.failure(key, "not supported by this version, remove it");
            }
        }
        if (!config.has("action")) {
            throw config.failure("action", "missing; write remove, redact, regex_replace, hash or mask");
        }
        treatment = new Treatment(config);
        List<List<String>> places = new ArrayList<>();
        for (String pointer : config.strings("target_paths")) {
            if (!pointer.isEmpty() && !pointer.startsWith("/")) {
                throw config.failure("target_paths", "\"" + pointer + "\" is no JSON pointer, it must begin with /");
            }
            places.add(
                    pointer.isEmpty()
                            ? List.of()
                            : java.util.Arrays.stream(pointer.substring(1).split("/", -1))
                                    .map(token -> token.replace("~1", "/").replace("~0", "~"))
                                    .toList());
        }
        paths = List.copyOf(places);
    }

    /** Whether it applies to certain places only. */
    boolean targeted() {
        return !paths.isEmpty();
    }

    /** Where it applies, from the root of a value; {@code before} stands before each place. */
    List<Walk> walks(String... before) {
        if (!targeted()) {
            return List.of(new Walk(treatment, List.of(), false));
        }
        List<Walk> walks = new ArrayList<>();
        for (List<String> path : paths) {
            List<String> whole = new ArrayList<>(List.of(before));
            whole.addAll(path);
            walks.add(new Walk(treatment, whole, true));
        }
        return walks;
    }
}
