package org.nemorelay.pluginhost;

import java.util.concurrent.CompletableFuture;
import org.nemorelay.plugin.api.ToolCall;
import org.osgi.annotation.versioning.ProviderType;

/** One hook policy behind threads of its own. Safe for any thread; no call blocks. */
@ProviderType
public interface PolicyGate {
    /** The plugin's kind. */
    String plugin();

    /** Lower ones are asked first. */
    int priority();

    /**
     * Asks the policy. What comes of it is in the judgement, a failure of the plugin included; the future itself does not
     * fail. It completes on any thread, the plugin's own too.
     *
     * @param millis how long the policy may take
     */
    CompletableFuture<Judgement> judge(ToolCall call, long millis);
}
