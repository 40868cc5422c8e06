package org.nemorelay.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** Reads a secret from a file that a setting names. */
public final class TokenFile {
    private TokenFile() {}

    /**
     * The file's text without the space around it; empty for no file.
     *
     * @param setting names the setting in the error
     */
    public static String read(String setting, String file) {
        if (file.isEmpty()) {
            return "";
        }
        try {
            String token = Files.readString(Path.of(file)).strip();
            if (token.isEmpty()) {
                throw new RelayException(FailureKind.CONFIGURATION, setting + ": " + file + " is empty");
            }
            return token;
        } catch (IOException e) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, setting + ": " + file + " cannot be read: " + e.getMessage());
        }
    }
}
