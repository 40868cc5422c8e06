package org.nemorelay.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.StagingException;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.FileVerbs;
import org.nemorelay.seams.staging.ObjectStore;
import org.nemorelay.seams.staging.TransferProgress;
import org.nemorelay.workerctl.FileEnsureReply;
import org.nemorelay.workerctl.FileEnsureRequest;
import org.nemorelay.workerctl.FileListDirReply;
import org.nemorelay.workerctl.FileListDirRequest;
import org.nemorelay.workerctl.FileReleaseReply;
import org.nemorelay.workerctl.FileReleaseRequest;
import org.nemorelay.workerctl.FileStageReply;
import org.nemorelay.workerctl.FileStageRequest;
import org.nemorelay.workerctl.FileTempReply;

/** The file verbs of a node below one folder, as little as the staging suite needs. */
final class StoreNodeFiles implements FileVerbs {
    private final String nodeId;
    private final Path root;
    private final ObjectStore store;

    StoreNodeFiles(String nodeId, Path root, ObjectStore store) {
        this.nodeId = nodeId;
        this.root = root.toAbsolutePath().normalize();
        this.store = store;
    }

    Registration serve(ControlServer server) {
        FileVerbs.serve(server, this);
        return server;
    }

    private Path inside(String key) {
        Path path = root.resolve(key).normalize();
        if (!path.startsWith(root)) {
            throw new StagingException("path outside allowed directories");
        }
        return path;
    }

    @Override
    public FileEnsureReply ensure(Context context, FileEnsureRequest request) {
        try {
            Path path = inside(request.key());
            if (!Files.exists(path)) {
                Files.createDirectories(path.getParent());
                store.get(context.detached(), request.key(), path);
            }
            return new FileEnsureReply(path.toString(), "");
        } catch (StagingException | IOException e) {
            return FileEnsureReply.refused(e.getMessage());
        }
    }

    @Override
    public FileStageReply stage(Context context, FileStageRequest request) {
        try {
            store.put(context, request.key(), inside(request.localPath()), TransferProgress.none());
            return new FileStageReply(request.key(), "");
        } catch (StagingException e) {
            return FileStageReply.refused(e.getMessage());
        }
    }

    @Override
    public FileTempReply temp(Context context) {
        return unchecked(() -> {
            Path folder = root.resolve("staging-tmp");
            Files.createDirectories(folder);
            return new FileTempReply(
                    Files.createTempFile(folder, "staging-" + nodeId + "-", ".tmp")
                            .toString(),
                    "");
        });
    }

    @Override
    public FileListDirReply list(Context context, FileListDirRequest request) {
        Path folder;
        try {
            folder = inside(request.keyPrefix());
        } catch (StagingException e) {
            return FileListDirReply.refused("invalid key prefix");
        }
        if (!Files.isDirectory(folder)) {
            return new FileListDirReply(List.of(), "");
        }
        return unchecked(() -> {
            try (Stream<Path> files = Files.walk(folder)) {
                return new FileListDirReply(
                        files.filter(Files::isRegularFile)
                                .map(file -> root.relativize(file).toString())
                                .sorted()
                                .toList(),
                        "");
            }
        });
    }

    @Override
    public FileReleaseReply release(Context context, FileReleaseRequest request) {
        if (!request.requestId().isEmpty()) {
            return FileReleaseReply.refused("release by request is not served here");
        }
        return unchecked(() -> {
            Files.deleteIfExists(inside(request.key()));
            return new FileReleaseReply("");
        });
    }

    private interface Work<T> {
        T run() throws IOException;
    }

    private static <T> T unchecked(Work<T> work) {
        Supplier<T> supplier = () -> {
            try {
                return work.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
        return supplier.get();
    }
}
