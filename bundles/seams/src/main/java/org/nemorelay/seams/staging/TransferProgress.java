package org.nemorelay.seams.staging;

import org.osgi.annotation.versioning.ConsumerType;

/** Told now and then how far a file has come; {@code total} is the whole file, also when a transfer is resumed. */
@ConsumerType
@FunctionalInterface
public interface TransferProgress {
    void moved(String file, long bytes, long total);

    static TransferProgress none() {
        return (file, bytes, total) -> {};
    }
}
