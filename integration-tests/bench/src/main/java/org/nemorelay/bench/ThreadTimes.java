package org.nemorelay.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Processor time of a process by thread, as {@code /proc} tells to the nanosecond.
 *
 * @param nanos by thread
 */
record ThreadTimes(Map<Thread, Long> nanos) {
    /** @param name its first 15 characters */
    record Thread(long id, String name) {}

    /** Of now. */
    static ThreadTimes of(long process) {
        Map<Thread, Long> nanos = new HashMap<>();
        try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(process), "task"))) {
            for (Path task : (Iterable<Path>) tasks::iterator) {
                try {
                    String name = Files.readString(task.resolve("comm")).strip();
                    String times = Files.readString(task.resolve("schedstat"));
                    nanos.put(
                            new Thread(Long.parseLong(task.getFileName().toString()), name),
                            Long.parseLong(times.split(" ")[0]));
                } catch (NoSuchFileException ended) {
                    // Between the list and the look.
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ThreadTimes(nanos);
    }

    /** Microseconds from {@code before} to this, of the threads whose name fits. */
    double microsSince(ThreadTimes before, Predicate<String> name) {
        return nanos.entrySet().stream()
                        .filter(entry -> name.test(entry.getKey().name()))
                        .mapToLong(entry -> entry.getValue() - before.nanos.getOrDefault(entry.getKey(), 0L))
                        .sum()
                / 1e3;
    }
}
