package org.nemorelay.pluginhost;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.nemorelay.config.EffectiveSettings;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The administrator's plugins in this worker: finds and checks the bundles, runs those that plugins.toml names, and
 * follows what changes in plugins.toml and the plugin folders while requests run. Safe for any thread; no call blocks.
 */
@ProviderType
public interface PluginHost {
    /** A request that is being served. */
    @ProviderType
    interface Use extends AutoCloseable {
        /** The request has ended. Further calls do nothing. */
        @Override
        void close();
    }

    /**
     * Completes when every planned plugin runs or is an optional one that does not. Completes with a
     * {@link org.nemorelay.protocol.RelayException} of one line when a required one cannot run. There is no deadline; a
     * plugin that keeps everybody waiting is named in the log once a minute.
     */
    CompletionStage<Void> ready();

    /** Every planned plugin and everything in the plugin folders, sorted by kind and file. */
    List<PluginStatus> status();

    /** Calls {@code listener}, on the host's own thread, whenever {@link #status()} has changed. */
    void onChange(Runnable listener);

    /**
     * The plugins.toml in force as JSON values, {@code {"components":[{"kind":...,"config":{...}}],"version":1}}, for the
     * record; values that look like secrets are left out.
     */
    Map<String, Object> configuration();

    /** Whether plugins.toml as it is in force requires each of the kinds that it names. */
    Map<String, Boolean> planned();

    /** The values of plugins.toml as it is in force, {@code KIND.KEY}, each with its place; credentials hidden. */
    List<EffectiveSettings.Setting> settings();

    /**
     * A request begins: no plugin that a snapshot taken from now on holds is stopped before the returned use is closed.
     * Enter before taking the snapshot.
     */
    Use enter();

    /** The services as of now. Take one per request and keep it to the request's end. */
    Snapshot snapshot();
}
