package org.nemorelay.telemetry;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.LogSettings.Format;
import org.nemorelay.telemetry.LogSettings.Sink;

/**
 * The event log of a process on its standard error and in files, one line per event (plugins 3).
 *
 * <p>Synchronous, for short-lived processes: a line is written before {@link #log} returns. Asynchronous, for the roles:
 * each output has a bounded queue and a thread of its own.
 */
public final class ProcessEventLog implements EventLog, AutoCloseable {
    /** How long {@link #flush} and {@link #close} wait for an output that does not come on. */
    static final long FLUSH_MILLIS = 2_000;

    private static final String TARGET = "nemo_relay.logging";

    private final LogLine line = new LogLine(LogLine.newRootId());
    private final boolean asynchronous;
    private final LogOutput stderr;

    private volatile Outputs outputs = new Outputs(LogSettings.DEFAULT, List.of());

    private record Outputs(LogSettings settings, List<LogFile> files) {}

    private ProcessEventLog(LogSettings settings, OutputStream out, int capacity) {
        this.asynchronous = capacity > 0;
        this.stderr = new StandardError(out, capacity, new MissingLines(line, Format.HUMAN));
        configure(settings);
        stderr.start();
    }

    /** A log that writes before it returns. */
    public static ProcessEventLog synchronous(LogSettings settings) {
        return synchronous(settings, new FileOutputStream(FileDescriptor.err));
    }

    /** A log that holds at most 4,096 lines for standard error, and what the settings say for each file. */
    public static ProcessEventLog asynchronous(LogSettings settings) {
        return asynchronous(settings, new FileOutputStream(FileDescriptor.err), 4_096);
    }

    /** A log that writes before it returns, with {@code out} for standard error. */
    public static ProcessEventLog synchronous(LogSettings settings, OutputStream out) {
        return new ProcessEventLog(settings, out, 0);
    }

    static ProcessEventLog asynchronous(LogSettings settings, OutputStream out, int capacity) {
        return new ProcessEventLog(settings, out, capacity);
    }

    /**
     * From the next event on, these settings hold.
     *
     * @throws RelayException {@link FailureKind#CONFIGURATION} when a file cannot be opened or two sinks would write the
     *     same one; then nothing has changed
     */
    public synchronized void configure(LogSettings next) {
        Objects.requireNonNull(next);
        checkPaths(next.files());
        Outputs before = outputs;
        List<LogFile> files = new ArrayList<>();
        List<LogFile> opened = new ArrayList<>();
        try {
            for (Sink sink : next.files()) {
                LogFile file = open(before, sink);
                files.add(file);
                if (!before.files().contains(file)) {
                    opened.add(file);
                }
            }
        } catch (RelayException e) {
            opened.forEach(LogOutput::close);
            throw e;
        }
        opened.forEach(LogOutput::start);
        outputs = new Outputs(next, List.copyOf(files));
        for (LogFile file : before.files()) {
            if (!files.contains(file)) {
                file.close();
            }
        }
    }

    private LogFile open(Outputs before, Sink sink) {
        for (LogFile file : before.files()) {
            if (file.sink().equals(sink)) {
                return file;
            }
        }
        return LogFile.open(sink, asynchronous, new MissingLines(line, sink.format()), new LostLines(this));
    }

    private static void checkPaths(List<Sink> sinks) {
        Set<Path> taken = new HashSet<>();
        for (Sink sink : sinks) {
            for (Path path : LogFile.paths(sink)) {
                if (!taken.add(path)) {
                    throw new RelayException(
                            FailureKind.CONFIGURATION,
                            sink.origin() + ": logging sink path conflicts with another active or rotated file: "
                                    + path);
                }
            }
        }
    }

    @Override
    public boolean enabled(Level level) {
        return level.compareTo(outputs.settings().level()) <= 0;
    }

    @Override
    public void log(Level level, String target, String event, String message, Object... fields) {
        Outputs current = outputs;
        LogSettings settings = current.settings();
        if (level.compareTo(settings.level()) > 0) {
            return;
        }
        try {
            Instant now = Instant.now();
            String[] texts = new String[Format.values().length];
            if (settings.stderr()) {
                stderr.add(text(texts, settings.format(), now, level, target, event, message, fields));
            }
            for (LogFile file : current.files()) {
                if (level.compareTo(file.sink().level()) <= 0) {
                    file.add(text(texts, file.sink().format(), now, level, target, event, message, fields));
                }
            }
        } catch (RuntimeException e) {
            // A log that throws would take its caller's request with it.
        }
    }

    private String text(
            String[] texts,
            Format format,
            Instant time,
            Level level,
            String target,
            String event,
            String message,
            Object[] fields) {
        String text = texts[format.ordinal()];
        if (text == null) {
            text = line.format(format, time, level, target, event, message, fields);
            texts[format.ordinal()] = text;
        }
        return text;
    }

    /** Whatever the settings say, somebody has to learn that lines are lost. */
    private void lost(Path path, String reason) {
        stderr.add(line.format(
                outputs.settings().format(),
                Instant.now(),
                Level.ERROR,
                TARGET,
                "log_sink_failed",
                "Log events cannot be written to this file and are lost until it can be written again",
                new Object[] {"path", path, "reason", reason}));
    }

    /** Waits until what was logged is written, two seconds at most. */
    @Override
    public void flush() {
        long deadline = System.nanoTime() + FLUSH_MILLIS * 1_000_000;
        for (LogFile file : outputs.files()) {
            file.flush(deadline);
        }
        stderr.flush(deadline);
    }

    /** Writes what is queued and ends the threads; later events are written at once. */
    @Override
    public void close() {
        flush();
        outputs.files().forEach(LogOutput::close);
        stderr.close();
    }

    private record MissingLines(LogLine line, Format format) implements LogOutput.Gap {
        @Override
        public String line(long missing) {
            return line.format(
                    format,
                    Instant.now(),
                    Level.WARN,
                    TARGET,
                    "log_events_dropped",
                    "Log events were dropped because they came faster than they could be written",
                    new Object[] {"dropped", missing});
        }
    }

    private record LostLines(ProcessEventLog log) implements LogFile.Trouble {
        @Override
        public void failed(Path path, String reason) {
            log.lost(path, reason);
        }
    }

    private static final class StandardError extends LogOutput {
        private final OutputStream out;

        StandardError(OutputStream out, int capacity, Gap gap) {
            // A pipe takes up to 4 KiB in one piece, so lines of several processes do not mix.
            super("nemo-relay-log", capacity, 2_048, gap);
            this.out = out;
        }

        @Override
        void write(byte[] lines) {
            try {
                out.write(lines);
                out.flush();
            } catch (IOException e) {
                // Nobody reads standard error any more; the process goes on without it.
            }
        }
    }
}
