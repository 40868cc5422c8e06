package org.nemorelay.protocol;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The version of this build, as {@code --version}, {@code serverInfo} and {@code binary_version} tell it. */
public final class Version {
    private Version() {}

    /** The text that the build put beside this class. */
    public static String text() {
        try (InputStream in = Version.class.getResourceAsStream("version.txt")) {
            if (in == null) {
                throw new IllegalStateException("the protocol bundle was built without version.txt");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException("the version of this build cannot be read", e);
        }
    }
}
