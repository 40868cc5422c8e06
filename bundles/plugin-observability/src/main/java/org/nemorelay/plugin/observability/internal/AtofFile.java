package org.nemorelay.plugin.observability.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.plugin.api.Event;

/**
 * A file of ATOF lines. Each event is one write, so that a reader of the file, or another worker that appends to it,
 * meets whole lines. The first failure ends the file; later events pass it by. Not safe for several threads.
 */
final class AtofFile implements Sink {
    private final Path path;
    private final FileChannel channel;
    private IOException failure;

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

    /** Why the file takes no more events. */
    @Override
    public Optional<IOException> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public void write(Event event) throws IOException {
        if (failure != null) {
            return;
        }
        ByteBuffer line = ByteBuffer.wrap((event.toJsonLine() + "\n").getBytes(StandardCharsets.UTF_8));
        try {
            while (line.hasRemaining()) {
                channel.write(line);
            }
        } catch (IOException e) {
            failure = new IOException(reason("no more events go to", path, e), e);
            takeBack(line.position());
            throw failure;
        }
    }

    /** Half a line would spoil the next one that is appended. */
    private void takeBack(int written) {
        try {
            channel.truncate(channel.size() - written);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            failure = e;
        }
    }

    /** One line about a failure with a file. */
    static String reason(String what, Path path, IOException e) {
        String why = e instanceof FileSystemException file && file.getReason() != null
                ? file.getReason()
                : e.getClass().getSimpleName() + (e.getMessage() == null ? "" : " " + e.getMessage());
        return what + " " + path + ": " + why;
    }
}
