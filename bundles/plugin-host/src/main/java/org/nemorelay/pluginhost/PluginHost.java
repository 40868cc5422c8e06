package org.nemorelay.pluginhost;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The administrator's plugins in this worker: finds and checks the bundles, runs those that plugins.toml names. Safe for
 * any thread; no call blocks.
 */
@ProviderType
public interface PluginHost {
    /**
     * Completes when every planned plugin runs or is an optional one that does not. Completes with a
     * {@link org.nemorelay.protocol.RelayException} of one line when a required one cannot run, or when plugins.toml
     * names a kind that no bundle provides. There is no deadline; a plugin that keeps everybody waiting is named in the
     * log once a minute.
     */
    CompletionStage<Void> ready();

    /** Every planned plugin and every file in the plugin folders, sorted by kind and file. */
    List<PluginStatus> status();

    /**
     * The plugins.toml in force as JSON values, {@code {"components":[{"kind":...,"config":{...}}],"version":1}}, for the
     * record; values that look like secrets are left out.
     */
    Map<String, Object> configuration();

    /** The services as of now. Take one per request and keep it to the request's end. */
    Snapshot snapshot();
}
