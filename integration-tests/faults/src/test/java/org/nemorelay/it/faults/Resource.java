package org.nemorelay.it.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Scripts of this module, as files that processes can run. */
final class Resource {
    private Resource() {}

    /** The file in this folder, written at its first use. */
    static synchronized String file(Path folder, String name) {
        Path file = folder.resolve(name);
        if (!Files.exists(file)) {
            try (InputStream in = Resource.class.getResourceAsStream("/" + name)) {
                Files.copy(in, file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return file.toString();
    }
}
