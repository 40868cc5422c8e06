package org.nemorelay.seams;

import org.osgi.annotation.versioning.ProviderType;

/** Something that stands until it is closed. Closing twice does nothing. */
@ProviderType
@FunctionalInterface
public interface Registration extends AutoCloseable {
    @Override
    void close();
}
