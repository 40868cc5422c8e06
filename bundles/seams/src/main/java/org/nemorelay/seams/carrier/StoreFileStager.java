package org.nemorelay.seams.carrier;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.StagingException;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.staging.FileStager;
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
import org.nemorelay.workerctl.NoArguments;
import org.nemorelay.workerctl.WireRecord;

/** Files by way of an {@link ObjectStore}, the worker told by control verbs over any {@link Exchange} (distributed-seams 5.1). */
public final class StoreFileStager implements FileStager {
    private static final Duration RELEASE = Duration.ofSeconds(30);

    private final ObjectStore store;
    private final Exchange exchange;
    private final ControlTimeouts timeouts;
    private final Faults faults;

    public StoreFileStager(ObjectStore store, Exchange exchange, ControlTimeouts timeouts, Faults faults) {
        this.store = store;
        this.exchange = exchange;
        this.timeouts = timeouts;
        this.faults = faults;
    }

    @Override
    public String ensureRemote(Context context, String nodeId, Path local, String key, TransferProgress progress) {
        if (!store.exists(context, key)) {
            store.put(context, key, local, progress);
        }
        FileEnsureReply reply = ask(
                context,
                nodeId,
                ControlVerb.FILES_ENSURE,
                new FileEnsureRequest(key),
                timeouts.transfer(),
                FileEnsureReply::decode);
        succeeded(nodeId, ControlVerb.FILES_ENSURE, reply.error());
        return reply.localPath();
    }

    @Override
    public void fetchRemote(Context context, String nodeId, String remotePath, Path local) {
        String key = "ephemeral/fetch/" + UUID.randomUUID() + "/"
                + Path.of(remotePath).getFileName();
        stageRemoteToStore(context, nodeId, remotePath, key);
        try {
            download(context, key, local);
        } finally {
            forget(context, key);
        }
    }

    @Override
    public void fetchRemoteByKey(Context context, String nodeId, String key, Path local) {
        boolean stored = store.exists(context, key);
        if (!stored) {
            stageRemoteToStore(context, nodeId, key, key);
        }
        try {
            download(context, key, local);
        } finally {
            if (!stored) {
                forget(context, key);
            }
        }
    }

    private void download(Context context, String key, Path local) {
        try {
            Path folder = local.toAbsolutePath().getParent();
            Files.createDirectories(folder);
            Path part = Files.createTempFile(folder, ".fetch-", ".part");
            try {
                store.get(context, key, part);
                Files.move(part, local, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException e) {
            throw new StagingException("cannot write " + local + ": " + e.getMessage());
        }
    }

    private void forget(Context context, String key) {
        try {
            store.delete(context.detached(), key);
        } catch (SeamException e) {
            faults.warn("file staging", "left " + key + " in the store: " + e.getMessage());
        }
    }

    @Override
    public String allocRemoteTemp(Context context, String nodeId) {
        FileTempReply reply = ask(
                context, nodeId, ControlVerb.FILES_TEMP, new NoArguments(), timeouts.files(), FileTempReply::decode);
        succeeded(nodeId, ControlVerb.FILES_TEMP, reply.error());
        return reply.localPath();
    }

    @Override
    public void stageRemoteToStore(Context context, String nodeId, String remotePath, String key) {
        FileStageReply reply = ask(
                context,
                nodeId,
                ControlVerb.FILES_STAGE,
                new FileStageRequest(remotePath, key),
                timeouts.transfer(),
                FileStageReply::decode);
        succeeded(nodeId, ControlVerb.FILES_STAGE, reply.error());
    }

    @Override
    public List<String> listRemoteDir(Context context, String nodeId, String prefix) {
        FileListDirReply reply = ask(
                context,
                nodeId,
                ControlVerb.FILES_LISTDIR,
                new FileListDirRequest(prefix),
                timeouts.files(),
                FileListDirReply::decode);
        succeeded(nodeId, ControlVerb.FILES_LISTDIR, reply.error());
        return reply.files();
    }

    @Override
    public void releaseRemote(Context context, String nodeId, String key) {
        release(context, nodeId, new FileReleaseRequest(key, ""));
        store.delete(context, key);
    }

    @Override
    public void releaseRemoteRequest(Context context, String nodeId, String requestId, List<String> keys) {
        try {
            release(context, nodeId, new FileReleaseRequest("", requestId));
        } catch (StagingException older) {
            faults.warn("file staging", older.getMessage() + "; releasing one by one");
            keys.forEach(key -> release(context, nodeId, new FileReleaseRequest(key, "")));
        }
        keys.forEach(key -> store.delete(context, key));
    }

    private void release(Context context, String nodeId, FileReleaseRequest request) {
        FileReleaseReply reply =
                ask(context, nodeId, ControlVerb.FILES_RELEASE, request, RELEASE, FileReleaseReply::decode);
        succeeded(nodeId, ControlVerb.FILES_RELEASE, reply.error());
    }

    private <R> R ask(
            Context context,
            String nodeId,
            ControlVerb verb,
            WireRecord request,
            Duration bound,
            Function<byte[], R> decode) {
        return Verbs.ask(exchange, context, nodeId, verb, request, bound, decode);
    }

    private static void succeeded(String nodeId, ControlVerb verb, String error) {
        if (!error.isEmpty()) {
            throw new StagingException(verb + " of node " + nodeId + " failed: " + error);
        }
    }
}
