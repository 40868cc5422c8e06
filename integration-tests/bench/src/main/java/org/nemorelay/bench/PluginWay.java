package org.nemorelay.bench;

import java.nio.file.Path;
import java.util.Locale;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Relay;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamIntercept;

/** What the workers of a {@link PluginGroup} differ in. */
enum PluginWay {
    NONE,
    OBSERVER,
    HEADERS,
    STREAM,
    NONE_AGAIN;

    static final int INTERCEPTS = 20;

    /** @param folder for its tree and its records */
    PluginWorker start(Relay relay, Path folder, String configToml) {
        return new PluginWorker(
                relay,
                folder.resolve(name().toLowerCase(Locale.ROOT)),
                configToml,
                pluginsToml(folder),
                this::deployJars);
    }

    private String pluginsToml(Path folder) {
        return switch (this) {
            case NONE, NONE_AGAIN -> "version = 1\n";
            case OBSERVER -> Relay.observabilityToml(folder);
            case STREAM -> "version = 1\n[[components]]\nkind = \"passing\"\n";
            case HEADERS -> {
                StringBuilder toml = new StringBuilder("version = 1\n");
                for (int i = 0; i < INTERCEPTS; i++) {
                    toml.append("[[components]]\nkind = \"header_" + i + "\"\n[components.config]\nname = \"h" + i
                            + "\"\n");
                }
                yield toml.toString();
            }
        };
    }

    private void deployJars(Path plugins) {
        switch (this) {
            case HEADERS -> {
                for (int i = 0; i < INTERCEPTS; i++) {
                    new PluginJar("header_" + i, PluginBench.Header.class, RequestIntercept.class).deploy(plugins);
                }
            }
            case STREAM -> new PluginJar("passing", PluginBench.Passing.class, StreamIntercept.class).deploy(plugins);
            case NONE, NONE_AGAIN, OBSERVER -> {}
        }
    }
}
