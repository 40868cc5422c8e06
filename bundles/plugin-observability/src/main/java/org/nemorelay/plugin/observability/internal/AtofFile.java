package org.nemorelay.plugin.observability.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.nemorelay.plugin.api.Event;

/**
 * A file of ATOF lines. Each event is one write, so that a reader of the file, or another worker that appends to it,
 * meets whole lines. An event that cannot be written is lost; the next one is tried again. Not safe for several threads.
 */
final class AtofFile implements Sink {
    private final Path path;
    private final FileChannel channel;
    /** Of the last event, when that was not written. */
    private IOException failure;

    /** The file ends within a line. */
    private boolean half;

    private AtofFile(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /** Opens the file, created with its folders where missing and then readable by its owner alone. */
    static AtofFile open(Path path, boolean append) throws IOException {
        Files.createDirectories(path.getParent());
        Set<OpenOption> options = Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                append ? StandardOpenOption.APPEND : StandardOpenOption.TRUNCATE_EXISTING);
        return new AtofFile(
                path,
                FileChannel.open(
                        path,
                        options,
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))));
    }

    Path path() {
        return path;
    }

    @Override
    public void write(Event event) throws IOException {
        ByteBuffer line =
                ByteBuffer.wrap(((half ? "\n" : "") + event.toJsonLine() + "\n").getBytes(StandardCharsets.UTF_8));
        try {
            while (line.hasRemaining()) {
                channel.write(line);
            }
            half = false;
            failure = null;
        } catch (IOException e) {
            failure = new IOException(reason("events do not reach", path, e), e);
            takeBack(line.position());
            throw failure;
        }
    }

    /** Half a line would spoil the next one that is appended. */
    private void takeBack(int written) {
        try {
            channel.truncate(channel.size() - written);
        } catch (IOException e) {
            half |= written > 0;
            failure.addSuppressed(e);
        }
    }

    @Override
    public void flush() throws IOException {
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // Every line was written at once, and what failed then was told then.
        }
    }

    /** One line about a failure with a file. */
    static String reason(String what, Path path, IOException e) {
        String why = switch (e) {
            case NoSuchFileException _ -> "there is no such file or folder";
            case AccessDeniedException _ -> "permission denied";
            case FileAlreadyExistsException _ -> "it is there already and is no folder";
            case FileSystemException file when file.getReason() != null -> file.getReason();
            default -> e.getMessage() == null ? "the system does not say why" : e.getMessage();
        };
        return what + " " + path + ": " + why;
    }
}
