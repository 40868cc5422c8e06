package org.nemorelay.identity;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * The right to be this account's daemon on one port, held from before its state is read until it serves no more: two that
 * start together do not share a record. A lock of the operating system, so it ends with its process; the process id in the
 * file is true while the lock is held. Safe for any thread.
 */
public final class DaemonSeat implements AutoCloseable {
    private static final int MAX_BYTES = 20;

    private final Optional<FileChannel> held;

    private DaemonSeat(Optional<FileChannel> held) {
        this.held = held;
    }

    /** For a daemon on whatever port is free, which nobody else can have. */
    static DaemonSeat anywhere() {
        return new DaemonSeat(Optional.empty());
    }

    /** @throws RelayException LAUNCH when another process has the seat, STATE when it cannot be had */
    static DaemonSeat take(PrivateFiles files, Path file, int port) {
        files.folder(file.getParent());
        FileChannel channel = files.tryLock(file)
                .orElseThrow(() -> new RelayException(FailureKind.LAUNCH, taken(pid(files, file), port)));
        try {
            channel.truncate(0);
            channel.write(
                    ByteBuffer.wrap(Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)));
            return new DaemonSeat(Optional.of(channel));
        } catch (IOException e) {
            close(channel);
            throw PrivateFiles.failed(file, "cannot be written", e);
        }
    }

    /** The daemon that has the seat. */
    static Optional<Long> holder(PrivateFiles files, Path file) {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        Optional<FileChannel> free = files.tryLock(file);
        free.ifPresent(DaemonSeat::close);
        return free.isPresent() ? Optional.empty() : pid(files, file);
    }

    private static Optional<Long> pid(PrivateFiles files, Path file) {
        try {
            return files.read(file, MAX_BYTES)
                    .map(content -> Long.parseLong(new String(content, StandardCharsets.US_ASCII)));
        } catch (NumberFormatException e) {
            return Optional.empty(); // it is about to write
        }
    }

    private static String taken(Optional<Long> pid, int port) {
        return "this account's daemon on port " + port + " is running already"
                + pid.map(id -> " (pid " + id + ")").orElse("")
                + "; stop it, or give one of the two another port";
    }

    /** Lets the next daemon have it. */
    @Override
    public void close() {
        held.ifPresent(DaemonSeat::close);
    }

    private static void close(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            throw new RelayException(FailureKind.STATE, "a lock file cannot be closed", e);
        }
    }
}
