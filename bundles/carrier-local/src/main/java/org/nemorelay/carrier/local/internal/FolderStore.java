package org.nemorelay.carrier.local.internal;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.StagingException;
import org.nemorelay.seams.staging.ObjectStore;
import org.nemorelay.seams.staging.TransferProgress;

/** Objects as files of a private temporary folder, which is made when first needed and removed at the end. */
final class FolderStore implements ObjectStore {
    private Optional<Path> root = Optional.empty();

    @Override
    public boolean exists(Context context, String key) {
        return Files.isRegularFile(path(key));
    }

    @Override
    public void put(Context context, String key, Path file, TransferProgress progress) {
        Path target = path(key);
        try {
            Files.createDirectories(target.getParent());
            copy(file, target);
            long size = Files.size(target);
            progress.moved(key, size, size);
        } catch (IOException e) {
            throw new StagingException("cannot store " + file + " as " + key + ": " + e);
        }
    }

    @Override
    public void get(Context context, String key, Path file) {
        try {
            copy(path(key), file);
        } catch (IOException e) {
            throw new StagingException("cannot read " + key + " from the store: " + e);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Path part = Files.createTempFile(to.toAbsolutePath().getParent(), ".put-", ".part");
        try {
            Files.copy(from, part, StandardCopyOption.REPLACE_EXISTING);
            Files.move(part, to, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    @Override
    public void delete(Context context, String key) {
        try {
            Files.deleteIfExists(path(key));
        } catch (IOException e) {
            throw new StagingException("cannot delete " + key + " from the store: " + e);
        }
    }

    private Path path(String key) {
        Path folder = root().normalize();
        Path path = folder.resolve(key).normalize();
        if (key.isEmpty() || path.equals(folder) || !path.startsWith(folder)) {
            throw new StagingException("\"" + key + "\" is no key of a store");
        }
        return path;
    }

    /** The folder, for the carrier and its tests. */
    synchronized Path root() {
        try {
            if (root.isEmpty()) {
                root = Optional.of(Files.createTempDirectory("nemo-relay-store-"));
            }
            return root.get();
        } catch (IOException e) {
            throw new StagingException("cannot make a folder for the store: " + e);
        }
    }

    synchronized void close() {
        try {
            if (root.isPresent()) {
                Files.walkFileTree(root.get(), new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                        Files.delete(file);
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path folder, IOException failure) throws IOException {
                        Files.delete(folder);
                        return FileVisitResult.CONTINUE;
                    }
                });
            }
        } catch (IOException e) {
            throw new StagingException("cannot remove the folder of the store: " + e);
        } finally {
            root = Optional.empty();
        }
    }
}
