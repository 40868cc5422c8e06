package org.nemorelay.config.internal;

import org.nemorelay.config.PluginPlan.Position;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** Configuration failures in one form: place, then what is wrong and what is expected. */
final class Failures {
    private Failures() {}

    static RelayException at(Position position, String problem) {
        return new RelayException(FailureKind.CONFIGURATION, position + ": " + problem);
    }

    static RelayException of(String problem) {
        return new RelayException(FailureKind.CONFIGURATION, problem);
    }
}
