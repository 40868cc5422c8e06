package org.nemorelay.it.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What a process holds open.
 *
 * @param listening ports on which it listens
 * @param connected its other TCP sockets, as {@code STATE REMOTE-PORT}, the state in the hexadecimal of the kernel
 * @param others everything else: pipes, selectors, Unix sockets, and files that are no library
 */
record Descriptors(List<Integer> listening, List<String> connected, List<String> others) {
    /** Before the remote port of a connection that is open on both sides. */
    static final String ESTABLISHED = "01 ";

    private static final String LISTEN = "0A";

    static Descriptors of(long pid) {
        Descriptors found = new Descriptors(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        Map<String, String[]> sockets = new HashMap<>();
        try (Stream<Path> links = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
            for (String table : List.of("tcp", "tcp6")) {
                for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "net", table))) {
                    String[] columns = line.strip().split("\\s+");
                    sockets.put("socket:[" + columns[9] + "]", columns);
                }
            }
            for (Path link : (Iterable<Path>) links::iterator) {
                found.add(link, sockets);
            }
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void add(Path link, Map<String, String[]> sockets) {
        String target;
        try {
            target = Files.readSymbolicLink(link).toString();
        } catch (IOException closedMeanwhile) {
            return;
        }
        String[] columns = sockets.get(target);
        if (columns == null) {
            if (!target.endsWith(".jar") && !target.endsWith("/modules")) {
                others.add(target.replaceAll("\\[\\d+\\]", ""));
            }
        } else if (columns[3].equals(LISTEN)) {
            listening.add(port(columns[1]));
        } else {
            connected.add(columns[3] + " " + port(columns[2]));
        }
    }

    private static int port(String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1), 16);
    }

    /** How many connections are open on both sides. */
    long established() {
        return connected.stream()
                .filter(socket -> socket.startsWith(ESTABLISHED))
                .count();
    }

    /** How many of them with this port. */
    long establishedWith(int port) {
        return connected.stream()
                .filter(socket -> socket.equals(ESTABLISHED + port))
                .count();
    }

    /** Connections in any state but those that are established with this port. */
    private List<String> connectedBut(int port) {
        return connected.stream()
                .filter(socket -> !socket.equals(ESTABLISHED + port))
                .toList();
    }

    /** Whether of what came since there is only a pool of connections to the provider's port. */
    boolean closedWhatCameSince(Descriptors start, int providerPort) {
        return closedWhatCameSince(start, providerPort, 0);
    }

    /** @param madeLater what is made at its first use and kept */
    boolean closedWhatCameSince(Descriptors start, int providerPort, int madeLater) {
        return listening.equals(start.listening)
                && connectedBut(providerPort).isEmpty()
                && others.size() <= start.others.size() + madeLater;
    }
}
