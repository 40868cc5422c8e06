package org.nemorelay.testkit;

import java.nio.channels.ByteChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Exchange;
import org.nemorelay.seams.dial.BackendService;
import org.opentest4j.TestAbortedException;

/**
 * A carrier set up for one test: two ends, what it declares, and the means to misbehave. Both ends have control bounds of
 * {@link #BOUND} and report to {@link #recorder()}.
 */
public interface CarrierRig extends AutoCloseable {
    /** The bound of every control call of a rig, long enough for a slow machine and short enough for a test of silence. */
    Duration BOUND = Duration.ofSeconds(1);

    Carrier here();

    /** Another process's end; within one process the same. */
    default Carrier peer() {
        return here();
    }

    Set<Capability> capabilities();

    Recorder recorder();

    /** The most bytes that a message without headers may have. */
    int maxPayload();

    /** The most bytes of a unit of work. */
    default int maxWork() {
        return maxPayload();
    }

    /** Bytes to a subject, past the typed senders, so that tests can send what no sender would. */
    default Exchange exchange() {
        throw new TestAbortedException("this rig has no raw exchange");
    }

    /** The address of the rig's backends; nobody is there unless the test serves one. */
    default String backendAddress() {
        return "127.0.0.1:50051";
    }

    /** The address of the rig's own servers of nodes. */
    default String serverAddress() {
        return "127.0.0.1:50050";
    }

    /** Has a backend served at a node; where a carrier routes by node, two nodes may use one address. */
    default Registration serveBackend(String nodeId, String address, BackendService service) {
        return peer().endpoints().backend(nodeId, address, service);
    }

    /** Has connections served as a node's own server does. */
    default Registration serveConnections(String nodeId, Consumer<ByteChannel> connection) {
        return peer().endpoints().server(nodeId, connection);
    }

    /** Has the files below {@code root} served as a node does. */
    default Registration serveFiles(String nodeId, Path root) {
        return new StoreNodeFiles(nodeId, root, peer().store()).serve(peer().controlServer(nodeId));
    }

    /** Cuts the link of {@link #here()}. */
    default void breakLink() {
        throw new TestAbortedException("this carrier's link cannot break");
    }

    default void restoreLink() {
        throw new TestAbortedException("this carrier's link cannot break");
    }

    @Override
    void close();
}
