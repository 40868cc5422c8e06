package org.nemorelay.control;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.WorkerNetwork;

/** Where the daemon can reach a worker on this machine (relay-daemon 5.9). */
public record NetworkHint(String advertisedHost, OptionalInt port) {
    public static final String ADDRESS_VARIABLE = "NEMO_RELAY_WORKER_ADVERTISE_ADDRESS";
    public static final String PORT_VARIABLE = "NEMO_RELAY_WORKER_PORT";
    private static final String LOOPBACK = "127.0.0.1";

    /**
     * The environment's word, else 127.0.0.1 for a daemon on this machine, else the IPv4 address from which this machine
     * reaches the daemon. {@link FailureKind#CONFIGURATION} for a value that cannot be; {@code UNAVAILABLE} while the
     * daemon's name does not resolve.
     */
    public static NetworkHint of(DaemonUrl daemon, Map<String, String> environment) {
        OptionalInt port = port(environment.getOrDefault(PORT_VARIABLE, "").strip());
        String given = environment.getOrDefault(ADDRESS_VARIABLE, "").strip().toLowerCase(Locale.ROOT);
        if (given.isEmpty()) {
            return new NetworkHint(daemon.loopback() ? LOOPBACK : routeTo(daemon), port);
        }
        Optional<String> problem = WorkerNetwork.hostProblem(given);
        if (problem.isPresent()) {
            throw new RelayException(FailureKind.CONFIGURATION, ADDRESS_VARIABLE + ": " + problem.get());
        }
        boolean loopback = given.equals("localhost") || given.startsWith("127.");
        if (loopback && !daemon.loopback()) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    ADDRESS_VARIABLE + ": a daemon on another machine cannot reach a worker at " + given);
        }
        return new NetworkHint(given, port);
    }

    private static OptionalInt port(String text) {
        if (text.isEmpty()) {
            return OptionalInt.empty();
        }
        try {
            int port = Integer.parseInt(text);
            if (port >= 1 && port <= 0xffff) {
                return OptionalInt.of(port);
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new RelayException(FailureKind.CONFIGURATION, PORT_VARIABLE + " must be a port from 1 to 65535");
    }

    private static String routeTo(DaemonUrl daemon) {
        try (DatagramSocket socket = new DatagramSocket()) {
            for (InetAddress address : InetAddress.getAllByName(daemon.hostName())) {
                if (address instanceof Inet4Address && !address.isLoopbackAddress()) {
                    socket.connect(new InetSocketAddress(address, Math.max(1, daemon.port())));
                    return socket.getLocalAddress().getHostAddress();
                }
            }
        } catch (UnknownHostException e) {
            throw new RelayException(
                    FailureKind.UNAVAILABLE, "the address of the daemon's host cannot be found: " + e.getMessage(), e);
        } catch (IOException | UncheckedIOException e) {
            throw new RelayException(
                    FailureKind.UNAVAILABLE,
                    "the daemon at " + daemon.argument() + " cannot be reached: " + Reasons.of(e),
                    e);
        }
        return LOOPBACK;
    }
}
