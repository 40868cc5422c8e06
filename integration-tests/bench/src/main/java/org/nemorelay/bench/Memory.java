package org.nemorelay.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** Resident memory of a process, in MB, as {@code /proc} tells. */
final class Memory {
    private Memory() {}

    /** What is resident now. */
    static double resident(long pid) {
        return read(pid, "VmRSS:");
    }

    /** The peak of a process that runs no longer than the poll goes on; polled each millisecond until it ends. */
    static double peakUntilEnd(long pid) {
        double peak = 0;
        while (true) {
            double now = read(pid, "VmHWM:");
            if (now == 0) {
                return peak;
            }
            peak = now;
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static double read(long pid, String key) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
                if (line.startsWith(key)) {
                    return Double.parseDouble(line.substring(key.length())
                                    .replace("kB", "")
                                    .strip())
                            / 1024;
                }
            }
            return 0;
        } catch (IOException ended) {
            return 0;
        }
    }
}
