package org.nemorelay.files.internal;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The files of a worker and what may be done with them (distributed-seams 5.3). A transfer grows beside its file, which
 * appears whole and verified or not at all.
 */
public final class StoredFiles {
    /** Where keys lead; {@link IOException} for one that leads nowhere. */
    public interface Places {
        Path file(String key) throws IOException;

        /** The keys below a prefix. */
        List<String> list(String prefix) throws IOException;
    }

    private static final long MAX_BYTES = 50L << 30;
    private static final Pattern RANGE = Pattern.compile("bytes (\\d{1,18})-(\\d{1,18})/(\\d{1,18})");

    private final Places places;
    private final Path staging;
    /** One writer of a file at a time; files that share a lock only wait a little. */
    private final List<ReentrantLock> writing =
            IntStream.range(0, 64).mapToObj(i -> new ReentrantLock()).toList();

    public StoredFiles(Places places, Path staging) {
        this.places = places;
        this.staging = staging;
    }

    private Path file(String key) throws IOException {
        Path file = places.file(key);
        if (Hashes.reserved(file.getFileName().toString())) {
            throw new IOException("invalid key: the name is kept for hashes");
        }
        return file;
    }

    public Answer temp() throws IOException {
        Path folder = staging.resolve("staging-tmp");
        Files.createDirectories(folder);
        return local(200, Files.createTempFile(folder, "localai-staging-", ".tmp"));
    }

    private static Answer local(int status, Path file) {
        return Answer.json(status, Map.of("local_path", file.toString()));
    }

    public Answer list(String prefix) {
        try {
            return Answer.json(200, Map.of("files", places.list(prefix)));
        } catch (IOException e) {
            return Answer.error(400, "invalid key prefix");
        }
    }

    public Answer get(String key) throws IOException {
        Path file;
        try {
            file = file(key);
        } catch (IOException e) {
            return Answer.error(400, e.getMessage());
        }
        return Files.isRegularFile(file)
                ? Answer.file(file, Map.of("Content-Type", "application/octet-stream", "X-Local-Path", file.toString()))
                : Answer.error(404, "there is no file " + key);
    }

    /** Size and hash of what is there, or how far a transfer has come. */
    public Answer describe(String key, Runnable each) throws IOException {
        Path file;
        try {
            file = file(key);
        } catch (IOException e) {
            return Answer.empty(400);
        }
        Path part = Hashes.part(file);
        if (Files.isRegularFile(file)) {
            return Answer.empty(200)
                    .with("X-Content-SHA256", Hashes.stored(file, each))
                    .with("X-File-Size", Long.toString(Files.size(file)))
                    .with("X-Local-Path", file.toString())
                    .with("Accept-Ranges", "bytes");
        }
        if (Files.isRegularFile(part) && Files.isRegularFile(Hashes.target(file))) {
            return Answer.empty(200)
                    .with("X-Target-SHA256", Files.readString(Hashes.target(file)))
                    .with("X-File-Size", Long.toString(Files.size(part)))
                    .with("Accept-Ranges", "bytes");
        }
        return Answer.empty(404);
    }

    public Answer delete(String key) throws IOException {
        Path file;
        try {
            file = file(key);
        } catch (IOException e) {
            return Answer.error(400, e.getMessage());
        }
        if (!key.startsWith("ephemeral/")) {
            return Answer.error(400, "only keys below ephemeral/ are let go of");
        }
        for (Path each : List.of(file, Hashes.hash(file), Hashes.part(file), Hashes.target(file))) {
            Files.deleteIfExists(each);
        }
        return Answer.empty(204);
    }

    /** Takes a whole file or its next piece; an answer below 400 has read the whole body. */
    public Answer put(String key, Wire.Head head, Wire wire, Runnable each) throws IOException {
        Path file;
        long length;
        try {
            file = file(key);
            length = head.length();
        } catch (IOException e) {
            return Answer.error(400, e.getMessage());
        }
        long start = 0;
        long total = length;
        String range = head.header("content-range");
        if (!range.isEmpty()) {
            Matcher matcher = RANGE.matcher(range);
            if (!matcher.matches()) {
                return Answer.error(400, "Content-Range is not bytes s-e/total");
            }
            start = Long.parseLong(matcher.group(1));
            total = Long.parseLong(matcher.group(3));
            if (Long.parseLong(matcher.group(2)) - start + 1 != length || start + length > total) {
                return Answer.error(400, "Content-Range does not fit the body");
            }
        }
        if (total > MAX_BYTES) {
            return Answer.error(413, "a file may have " + MAX_BYTES + " bytes at most");
        }
        ReentrantLock lock = writing.get(Math.floorMod(file.hashCode(), writing.size()));
        lock.lock();
        try {
            return write(file, start, length, total, head, wire, each);
        } finally {
            lock.unlock();
        }
    }

    private static Answer write(
            Path file, long start, long length, long total, Wire.Head head, Wire wire, Runnable each)
            throws IOException {
        String hash = head.header("x-content-sha256");
        Path part = Hashes.part(file);
        Path target = Hashes.target(file);
        Files.createDirectories(file.getParent());
        long there = Files.isRegularFile(part) ? Files.size(part) : 0;
        if (start > 0) {
            String wanted = Files.isRegularFile(target) ? Files.readString(target) : "";
            if (start == there && !wanted.equals(hash)) {
                Files.deleteIfExists(part);
                Files.deleteIfExists(target);
                return Answer.error(409, "another content was on its way to this key; begin again");
            }
            if (start != there) {
                return Answer.error(416, "the next byte is " + there)
                        .with("X-File-Size", Long.toString(there))
                        .with("Content-Range", "bytes */" + total);
            }
        }
        Files.writeString(target, hash);
        if (length > 0 && head.header("expect").equalsIgnoreCase("100-continue")) {
            wire.write("HTTP/1.1 100 Continue\r\n\r\n");
        }
        try (FileChannel out = FileChannel.open(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            out.truncate(start).position(start);
            for (long left = length; left > 0; ) {
                ByteBuffer piece;
                try {
                    piece = wire.body(left);
                } catch (EOFException e) {
                    return Answer.error(400, "the body is shorter than its length");
                }
                left -= piece.remaining();
                while (piece.hasRemaining()) {
                    out.write(piece);
                }
            }
            out.force(false);
        }
        if (start + length < total) {
            return Answer.empty(308).with("Range", "bytes=0-" + (start + length - 1));
        }
        String found = Hashes.of(part, each);
        Files.deleteIfExists(target);
        if (!hash.isEmpty() && !hash.equals(found)) {
            Files.deleteIfExists(part);
            return Answer.error(400, "the content does not have the hash that was announced");
        }
        Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        Files.writeString(Hashes.hash(file), found);
        return local(200, file);
    }
}
