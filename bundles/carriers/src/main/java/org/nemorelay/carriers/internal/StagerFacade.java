package org.nemorelay.carriers.internal;

import java.nio.file.Path;
import java.util.List;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.staging.FileStager;
import org.nemorelay.seams.staging.TransferProgress;

/** Files; each transfer keeps the carrier it began with. */
final class StagerFacade implements FileStager {
    private final Lane lane;

    StagerFacade(Lane lane) {
        this.lane = lane;
    }

    @Override
    public String ensureRemote(Context context, String nodeId, Path local, String key, TransferProgress progress) {
        return lane.call(carrier -> carrier.stager().ensureRemote(context, nodeId, local, key, progress));
    }

    @Override
    public void fetchRemote(Context context, String nodeId, String remotePath, Path local) {
        lane.run(carrier -> carrier.stager().fetchRemote(context, nodeId, remotePath, local));
    }

    @Override
    public void fetchRemoteByKey(Context context, String nodeId, String key, Path local) {
        lane.run(carrier -> carrier.stager().fetchRemoteByKey(context, nodeId, key, local));
    }

    @Override
    public String allocRemoteTemp(Context context, String nodeId) {
        return lane.call(carrier -> carrier.stager().allocRemoteTemp(context, nodeId));
    }

    @Override
    public void stageRemoteToStore(Context context, String nodeId, String remotePath, String key) {
        lane.run(carrier -> carrier.stager().stageRemoteToStore(context, nodeId, remotePath, key));
    }

    @Override
    public List<String> listRemoteDir(Context context, String nodeId, String prefix) {
        return lane.call(carrier -> carrier.stager().listRemoteDir(context, nodeId, prefix));
    }

    @Override
    public void releaseRemote(Context context, String nodeId, String key) {
        lane.run(carrier -> carrier.stager().releaseRemote(context, nodeId, key));
    }

    @Override
    public void releaseRemoteRequest(Context context, String nodeId, String requestId, List<String> keys) {
        lane.run(carrier -> carrier.stager().releaseRemoteRequest(context, nodeId, requestId, keys));
    }
}
