package org.nemorelay.files.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Content hashes, and the files beside a file that keep them. */
public final class Hashes {
    private static final String HASH = ".sha256";
    private static final String PART = ".part";
    private static final String TARGET = ".sha256.target";
    private static final int CHUNK = 1024 * 1024;

    private Hashes() {}

    /** Whether the name is one that this protocol keeps for itself. */
    public static boolean reserved(String name) {
        return name.endsWith(HASH) || name.endsWith(PART) || name.endsWith(TARGET);
    }

    static Path part(Path file) {
        return file.resolveSibling(file.getFileName() + PART);
    }

    static Path target(Path file) {
        return file.resolveSibling(file.getFileName() + TARGET);
    }

    static Path hash(Path file) {
        return file.resolveSibling(file.getFileName() + HASH);
    }

    /** SHA-256 in hexadecimal; {@code each} is called for every MiB and may throw to end the work. */
    public static String of(Path file, Runnable each) throws IOException {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer buffer = ByteBuffer.allocate(CHUNK);
            while (in.read(buffer) >= 0) {
                each.run();
                digest.update(buffer.flip());
                buffer.clear();
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /** The hash of a stored file, from beside it where that is not older, else computed and kept. */
    static String stored(Path file, Runnable each) throws IOException {
        Path kept = hash(file);
        if (Files.exists(kept) && Files.getLastModifiedTime(kept).compareTo(Files.getLastModifiedTime(file)) >= 0) {
            return Files.readString(kept).strip();
        }
        String hash = of(file, each);
        Files.writeString(kept, hash);
        return hash;
    }
}
