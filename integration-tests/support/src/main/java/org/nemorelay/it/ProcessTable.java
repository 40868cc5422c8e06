package org.nemorelay.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The processes of this machine, as {@code /proc} tells. */
public final class ProcessTable {
    private static final int SIGINT = 2;

    private ProcessTable() {}

    /** One process: its arguments and its environment as {@code KEY=VALUE}. */
    public record Entry(long pid, int uid, List<String> arguments, List<String> environment) {}

    /** Processes with this text in their environment or arguments, other than this one. */
    public static List<Entry> mentioning(String text) {
        List<Entry> found = new ArrayList<>();
        try (Stream<Path> folders = Files.list(Path.of("/proc"))) {
            for (Path folder : (Iterable<Path>) folders::iterator) {
                String name = folder.getFileName().toString();
                if (!name.chars().allMatch(Character::isDigit)
                        || Long.parseLong(name) == ProcessHandle.current().pid()) {
                    continue;
                }
                read(folder, Long.parseLong(name), text, found);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    /** The loopback TCP ports (IPv4, also as mapped IPv6) on which a process listens. */
    public static List<Integer> listeningPorts(long pid) {
        List<Integer> ports = new ArrayList<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
            List<String> sockets = descriptors.map(ProcessTable::target).toList();
            for (String table : List.of("tcp", "tcp6")) {
                for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "net", table))) {
                    String[] columns = line.strip().split("\\s+");
                    if (columns[3].equals("0A") && sockets.contains("socket:[" + columns[9] + "]")) {
                        ports.add(Integer.parseInt(columns[1].substring(columns[1].lastIndexOf(':') + 1), 16));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ports;
    }

    /** What is resident of a process, in KiB. */
    public static long residentKib(long pid) {
        return Long.parseLong(status(pid, "VmRSS:").replace("kB", "").strip());
    }

    /** Whether this process, and so what it starts, was started with SIGINT ignored, as shells start background jobs. */
    public static boolean ignoresInterrupts() {
        return (Long.parseUnsignedLong(status(ProcessHandle.current().pid(), "SigIgn:"), 16) & 1 << (SIGINT - 1)) != 0;
    }

    private static String status(long pid, String key) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
                if (line.startsWith(key)) {
                    return line.substring(key.length()).strip();
                }
            }
            throw new AssertionError("process " + pid + " has no " + key);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException closedMeanwhile) {
            return "";
        }
    }

    private static void read(Path folder, long pid, String text, List<Entry> found) {
        try {
            List<String> arguments = strings(folder.resolve("cmdline"));
            List<String> environment = strings(folder.resolve("environ"));
            if (Stream.concat(arguments.stream(), environment.stream()).anyMatch(value -> value.contains(text))) {
                found.add(new Entry(pid, (int) Files.getAttribute(folder, "unix:uid"), arguments, environment));
            }
        } catch (IOException endedOrForeign) {
            return;
        }
    }

    private static List<String> strings(Path file) throws IOException {
        String all = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        return all.isEmpty() ? List.of() : List.of(all.split("\0"));
    }
}
