package org.nemorelay.http;

import java.time.Duration;
import org.osgi.annotation.versioning.ProviderType;

/** An open listener. Safe for any thread. */
@ProviderType
public interface HttpListener extends AutoCloseable {
    /** The port that is bound, also when any port was asked for. */
    int port();

    /** Stops accepting connections, waits at most this long for requests under way, then closes every connection. */
    void close(Duration grace);

    /** Closes every connection now. */
    @Override
    void close();
}
