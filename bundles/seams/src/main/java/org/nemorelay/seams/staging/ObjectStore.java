package org.nemorelay.seams.staging;

import java.nio.file.Path;
import org.nemorelay.seams.Context;
import org.osgi.annotation.versioning.ConsumerType;

/** A store that frontend and worker both reach. Failures are {@link org.nemorelay.seams.StagingException}. */
@ConsumerType
public interface ObjectStore {
    boolean exists(Context context, String key);

    /** Stores the file, whole or not at all. */
    void put(Context context, String key, Path file, TransferProgress progress);

    /** Writes the object to {@code file}, whole or not at all. */
    void get(Context context, String key, Path file);

    /** Removes the object; one that is not there is a success. */
    void delete(Context context, String key);
}
