package org.nemorelay.it;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** The version that a bundle's file names. */
public final class BundleVersion {
    private BundleVersion() {}

    /** The same bundle as another version. */
    public static void write(Path from, Path to, String version) throws IOException {
        try (JarFile source = new JarFile(from.toFile());
                OutputStream out = Files.newOutputStream(to)) {
            Manifest manifest = source.getManifest();
            manifest.getMainAttributes().put(new Attributes.Name("Bundle-Version"), version);
            try (JarOutputStream target = new JarOutputStream(out, manifest)) {
                for (Enumeration<JarEntry> entries = source.entries(); entries.hasMoreElements(); ) {
                    JarEntry entry = entries.nextElement();
                    if (!entry.getName().equals(JarFile.MANIFEST_NAME)) {
                        target.putNextEntry(new JarEntry(entry.getName()));
                        source.getInputStream(entry).transferTo(target);
                    }
                }
            }
        }
    }
}
