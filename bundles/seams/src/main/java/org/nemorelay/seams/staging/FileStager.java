package org.nemorelay.seams.staging;

import java.nio.file.Path;
import java.util.List;
import org.nemorelay.seams.Context;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Moves files to and from a worker (distributed-seams 5). A worker that says no, and a file that cannot be read or written,
 * is a {@link org.nemorelay.seams.StagingException}; {@link org.nemorelay.seams.NoRouteException} only from a carrier that
 * learns that nobody listens. Calls block until the file is there. Pinned by {@code StagingConformance}.
 */
@ProviderType
public interface FileStager {
    /** Has the file at the worker under {@code key}, and returns its path there. What is already there is not sent again. */
    String ensureRemote(Context context, String nodeId, Path local, String key, TransferProgress progress);

    /** Copies a worker's file here. */
    void fetchRemote(Context context, String nodeId, String remotePath, Path local);

    /** Copies what the worker holds under {@code key} here. */
    void fetchRemoteByKey(Context context, String nodeId, String key, Path local);

    /** The path of a fresh temporary file at the worker. */
    String allocRemoteTemp(Context context, String nodeId);

    /** Puts a worker's file into the store under {@code key}; {@link org.nemorelay.seams.NotServedException} without a store. */
    void stageRemoteToStore(Context context, String nodeId, String remotePath, String key);

    /** The keys that the worker holds under a prefix. */
    List<String> listRemoteDir(Context context, String nodeId, String prefix);

    /** Lets go of one staged key. */
    void releaseRemote(Context context, String nodeId, String key);

    /** Lets go of everything staged for one request, in one call where the carrier can. */
    void releaseRemoteRequest(Context context, String nodeId, String requestId, List<String> keys);
}
