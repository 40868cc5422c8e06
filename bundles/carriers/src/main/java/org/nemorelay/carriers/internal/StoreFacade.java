package org.nemorelay.carriers.internal;

import java.nio.file.Path;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.staging.ObjectStore;
import org.nemorelay.seams.staging.TransferProgress;

/** The store between frontend and worker, where the carrier has one. */
final class StoreFacade implements ObjectStore {
    private final Lane lane;

    StoreFacade(Lane lane) {
        this.lane = lane;
    }

    @Override
    public boolean exists(Context context, String key) {
        return lane.call(carrier -> carrier.store().exists(context, key));
    }

    @Override
    public void put(Context context, String key, Path file, TransferProgress progress) {
        lane.run(carrier -> carrier.store().put(context, key, file, progress));
    }

    @Override
    public void get(Context context, String key, Path file) {
        lane.run(carrier -> carrier.store().get(context, key, file));
    }

    @Override
    public void delete(Context context, String key) {
        lane.run(carrier -> carrier.store().delete(context, key));
    }
}
