package org.nemorelay.telemetry;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.LogSettings.Rotation;
import org.nemorelay.telemetry.LogSettings.Sink;

/** A file that lines are appended to, each in one write, so that several processes can share it where it is not rotated. */
final class LogFile extends LogOutput {
    /** What to do when lines are lost, and when they are not any more. */
    interface Trouble {
        void failed(Path path, String reason);
    }

    private final Sink sink;
    private final Trouble trouble;

    // Below: used by one writer at a time.
    private FileOutputStream out;
    private boolean failing;
    private boolean cut;

    private LogFile(Sink sink, FileOutputStream out, boolean asynchronous, Gap gap, Trouble trouble) {
        super(
                "nemo-relay-log " + sink.path().getFileName(),
                asynchronous ? sink.queueCapacity() : 0,
                sink.rotation().isPresent() ? 0 : 2_048,
                gap);
        this.sink = sink;
        this.out = out;
        this.trouble = trouble;
    }

    /**
     * Opens the file, with the folders that lead to it.
     *
     * @throws RelayException {@link FailureKind#CONFIGURATION} when it cannot be opened
     */
    static LogFile open(Sink sink, boolean asynchronous, Gap gap, Trouble trouble) {
        try {
            Path folder = sink.path().getParent();
            if (folder != null) {
                Files.createDirectories(folder);
            }
            // To open a pipe would wait for its reader.
            if (Files.exists(sink.path()) && !Files.isRegularFile(sink.path())) {
                throw new FileSystemException(sink.path().toString(), null, "not a regular file");
            }
            return new LogFile(sink, new FileOutputStream(sink.path().toFile(), true), asynchronous, gap, trouble);
        } catch (IOException e) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    sink.origin() + ": logging sink " + sink.path() + " cannot be opened: " + Reasons.of(e),
                    e);
        }
    }

    Sink sink() {
        return sink;
    }

    /** Every file that the sink writes or moves. */
    static List<Path> paths(Sink sink) {
        List<Path> paths = new ArrayList<>(List.of(sink.path()));
        for (int i = 1; i <= sink.rotation().map(Rotation::retainedFiles).orElse(0); i++) {
            paths.add(rotated(sink.path(), i));
        }
        return paths;
    }

    @Override
    void write(byte[] lines) {
        File file = sink.path().toFile();
        try {
            Optional<Rotation> rotation = sink.rotation();
            long size = file.length();
            if (rotation.isPresent()
                    && size > 0
                    && size + lines.length > rotation.get().maxBytes()) {
                rotate(rotation.get().retainedFiles());
                size = 0;
            }
            if (out == null || !file.exists()) { // It was moved or removed.
                reopen();
            }
            try {
                if (cut) {
                    out.write('\n');
                    cut = false;
                }
                out.write(lines);
            } catch (IOException e) {
                cut |= file.length() > size;
                throw e;
            }
            failing = false;
        } catch (IOException e) {
            if (!failing) {
                failing = true;
                trouble.failed(sink.path(), Reasons.of(e));
            }
        }
    }

    private void rotate(int retained) throws IOException {
        for (int i = retained - 1; i >= 0; i--) {
            Path from = i == 0 ? sink.path() : rotated(sink.path(), i);
            if (Files.exists(from)) {
                Files.move(from, rotated(sink.path(), i + 1), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        reopen();
    }

    private void reopen() throws IOException {
        if (out != null) {
            out.close();
            out = null;
        }
        out = new FileOutputStream(sink.path().toFile(), true);
        cut = false;
    }

    /** {@code x.log} becomes {@code x.1.log}. */
    private static Path rotated(Path path, int number) {
        String name = path.getFileName().toString();
        int dot = name.lastIndexOf('.');
        return path.resolveSibling(
                dot < 1 ? name + "." + number : name.substring(0, dot) + "." + number + name.substring(dot));
    }
}
