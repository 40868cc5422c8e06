package org.nemorelay.pipeline;

/** A plugin's service did not do what it was asked for; the cause has been logged. Its message names the plugin and nothing that it said. */
public final class StageFailure extends Exception {
    private static final long serialVersionUID = 1L;

    StageFailure(String message) {
        super(message, null, false, false);
    }
}
