package org.nemorelay.launcher.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;

/**
 * The private folder that one process gives its framework, under the temporary folder. A lock file held open marks it
 * as in use; folders that a killed process left behind are removed by the next start of the same user.
 */
public final class FrameworkStorage implements AutoCloseable {
    private static final String PREFIX = "nemo-relay-framework-";
    private static final String LOCK = "lock";

    private final Path folder;
    private final FileChannel lock;

    private FrameworkStorage(Path folder, FileChannel lock) {
        this.folder = folder;
        this.lock = lock;
    }

    /** A new folder that only this user can enter; removes stale ones beside it first. */
    public static FrameworkStorage open(Path temporary) {
        try {
            // Named by process so that a folder without its lock yet is not taken for a stale one.
            Path folder = Files.createTempDirectory(
                    temporary, PREFIX + ProcessHandle.current().pid() + "-");
            FileChannel lock =
                    FileChannel.open(folder.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            lock.lock();
            removeStale(temporary, folder);
            return new FrameworkStorage(folder, lock);
        } catch (IOException e) {
            throw new RelayException(
                    FailureKind.STATE,
                    "no private folder can be made in " + temporary + " (" + Reasons.of(e)
                            + "): make it writable or set TMPDIR",
                    e);
        }
    }

    public Path folder() {
        return folder;
    }

    /** Removes the folder; what cannot be removed is left to the next start. */
    @Override
    public void close() {
        try {
            lock.close();
            remove(folder);
        } catch (IOException | UncheckedIOException e) {
            // The next start tries again.
        }
    }

    private static void removeStale(Path temporary, Path own) throws IOException {
        try (DirectoryStream<Path> siblings = Files.newDirectoryStream(temporary, PREFIX + "*")) {
            for (Path sibling : siblings) {
                if (!sibling.equals(own) && stale(sibling, own)) {
                    remove(sibling);
                }
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            // Another start may be removing the same folder, or it belongs to somebody else: not this start's trouble.
        }
    }

    private static boolean stale(Path sibling, Path own) throws IOException {
        if (!Files.isDirectory(sibling, LinkOption.NOFOLLOW_LINKS)
                || !Files.getOwner(sibling, LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(own))) {
            return false;
        }
        String pid = sibling.getFileName().toString().substring(PREFIX.length());
        int dash = pid.indexOf('-');
        try {
            if (dash < 0 || ProcessHandle.of(Long.parseLong(pid, 0, dash, 10)).isPresent()) {
                return false;
            }
        } catch (NumberFormatException e) {
            return false;
        }
        // The process id says nothing about processes in other containers that share this folder; the lock does.
        Path file = sibling.resolve(LOCK);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return true;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
                FileLock taken = channel.tryLock()) {
            return taken != null;
        }
    }

    private static void remove(Path folder) throws IOException {
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, IOException failure) throws IOException {
                Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
