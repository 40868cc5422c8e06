package org.nemorelay.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/** The installed tree that the build made, and private copies of it. */
public final class Distribution {
    private Distribution() {}

    /** The tree under test: system property {@code nemorelay.distribution}, set by the build. */
    public static Path tree() {
        String path = System.getProperty("nemorelay.distribution");
        if (path == null || !Files.isExecutable(Path.of(path, "bin/nemo-relay"))) {
            throw new IllegalStateException(
                    "system property nemorelay.distribution must name the built tree, it is " + path);
        }
        return Path.of(path);
    }

    /** A tree made of hard links with an {@code etc/} of its own, which then is the system configuration of its workers. */
    public static Path privateTree(Path target, String configToml, String pluginsToml) {
        try {
            link(tree(), target);
            Path etc = Files.createDirectories(target.resolve("etc"));
            Files.setPosixFilePermissions(etc, PosixFilePermissions.fromString("rwxr-xr-x"));
            write(etc.resolve("config.toml"), configToml);
            write(etc.resolve("plugins.toml"), pluginsToml);
            return target;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes a file that only its owner may change. */
    public static void write(Path file, String content) throws IOException {
        Files.writeString(file, content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    }

    private static void link(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                Path copy = Files.createDirectories(
                        to.resolve(from.relativize(folder).toString()));
                Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Path copy = to.resolve(from.relativize(file).toString());
                if (attributes.isSymbolicLink()) {
                    Files.createSymbolicLink(copy, Files.readSymbolicLink(file));
                } else {
                    linkOrCopy(file, copy);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static void linkOrCopy(Path file, Path copy) throws IOException {
        try {
            Files.createLink(copy, file);
        } catch (IOException | UnsupportedOperationException otherFileSystem) {
            Files.copy(file, copy, java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
        }
    }
}
