package org.nemorelay.agents.internal;

import org.nemorelay.seams.Context;

/** A model that answers. */
@FunctionalInterface
interface Chat {
    /**
     * The answer to one prompt.
     *
     * @throws org.nemorelay.seams.SeamException when there is none, and why
     */
    String ask(Context context, String model, String prompt);
}
