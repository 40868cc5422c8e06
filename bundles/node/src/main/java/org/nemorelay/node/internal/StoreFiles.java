package org.nemorelay.node.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.nemorelay.files.FileAreas;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.SeamException;
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

/** The verbs of files (distributed-seams 5.4), between this node's folders and the store that a carrier reaches. */
final class StoreFiles implements FileVerbs {
    private final FileAreas areas;
    private final ObjectStore store;
    /** One fetch of a key at a time; who comes meanwhile finds the file. */
    private final KeyLocks fetching = new KeyLocks();

    StoreFiles(FileAreas areas, ObjectStore store) {
        this.areas = areas;
        this.store = store;
    }

    @Override
    public FileEnsureReply ensure(Context context, FileEnsureRequest request) {
        try (KeyLocks.Hold _ = fetching.hold(request.key())) {
            Path file = areas.file(request.key());
            if (!Files.exists(file)) {
                Files.createDirectories(file.getParent());
                Path part = Files.createTempFile(file.getParent(), ".fetch-", ".part");
                try {
                    // Others may wait for this file: their caller's end is not this one's.
                    store.get(context.detached(), request.key(), part);
                    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                } finally {
                    Files.deleteIfExists(part);
                }
            }
            return new FileEnsureReply(file.toString(), "");
        } catch (IOException | SeamException e) {
            return FileEnsureReply.refused(e.getMessage());
        }
    }

    @Override
    public FileStageReply stage(Context context, FileStageRequest request) {
        try {
            store.put(context, request.key(), areas.file(request.localPath()), TransferProgress.none());
            return new FileStageReply(request.key(), "");
        } catch (IOException | SeamException e) {
            return FileStageReply.refused(e.getMessage());
        }
    }

    @Override
    public FileTempReply temp(Context context) {
        try {
            Path folder = Files.createDirectories(areas.staging().resolve("staging-tmp"));
            return new FileTempReply(
                    Files.createTempFile(folder, "localai-staging-", ".tmp").toString(), "");
        } catch (IOException e) {
            return new FileTempReply("", e.getMessage());
        }
    }

    @Override
    public FileListDirReply list(Context context, FileListDirRequest request) {
        try {
            return new FileListDirReply(areas.list(request.keyPrefix()), "");
        } catch (IOException e) {
            return FileListDirReply.refused("invalid key prefix");
        }
    }

    @Override
    public FileReleaseReply release(Context context, FileReleaseRequest request) {
        if (!request.requestId().isEmpty()) {
            return FileReleaseReply.refused("release by request is not served here");
        }
        try {
            if (request.key().split("/").length != 4 || !request.key().startsWith("ephemeral/")) {
                return FileReleaseReply.refused("invalid request");
            }
            Files.deleteIfExists(areas.file(request.key()));
            return new FileReleaseReply("");
        } catch (IOException e) {
            return FileReleaseReply.refused(e.getMessage());
        }
    }
}
