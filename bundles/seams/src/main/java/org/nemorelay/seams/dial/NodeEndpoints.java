package org.nemorelay.seams.dial;

import java.nio.channels.ByteChannel;
import java.util.function.Consumer;
import org.nemorelay.seams.Registration;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The worker's half of dialling, for carriers that lead to a node themselves (in process, tunnels). A carrier that dials
 * addresses has none: there the worker listens.
 */
@ProviderType
public interface NodeEndpoints {
    Registration backend(String nodeId, String address, BackendService service);

    /** Takes each connection on a thread of its own and closes it when {@code connection} returns. */
    Registration server(String nodeId, Consumer<ByteChannel> connection);
}
