package org.nemorelay.config.internal;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
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

    /** The reason alone: the file's name stands before it already. */
    static String reason(IOException e) {
        if (e instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (e instanceof FileSystemException file && file.getReason() != null) {
            return file.getReason();
        }
        return e.getMessage() == null ? e.getClass().getName() : e.getMessage();
    }
}
