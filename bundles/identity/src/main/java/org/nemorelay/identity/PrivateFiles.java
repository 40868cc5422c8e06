package org.nemorelay.identity;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.nemorelay.identity.internal.FileStatus;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.Ids;

/**
 * Files and folders that only their owner may see (relay-daemon 4.3): links, foreign owners and anything that is no
 * regular file are refused, loose modes are repaired. Every failure is {@link FailureKind#STATE} and names the path.
 * Safe for any thread.
 */
public final class PrivateFiles {
    private static final long LOCK_RETRY_MS = 25;
    private static final long LOCK_LIMIT_MS = 5_000;
    private static final String UNFINISHED = ".tmp";
    private static final Set<PosixFilePermission> OWNER_FILE =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    private static final Set<PosixFilePermission> OWNER_FOLDER = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private final EffectiveUser user;
    private final Disk disk;
    private final Consumer<String> notices;

    /** How written bytes reach the disk: what a test makes slow or full. */
    @FunctionalInterface
    public interface Disk {
        /** Returns when everything that was written to the channel is on the disk. */
        void sync(FileChannel channel) throws IOException;
    }

    public PrivateFiles(EffectiveUser user) {
        this(user, channel -> channel.force(true));
    }

    public PrivateFiles(EffectiveUser user, Disk disk) {
        this(user, disk, notice -> {});
    }

    /** @param notices hears of every file that was open to others until now: one line that names it */
    PrivateFiles(EffectiveUser user, Disk disk, Consumer<String> notices) {
        this.user = user;
        this.disk = disk;
        this.notices = notices;
    }

    PrivateFiles telling(Consumer<String> listener) {
        return new PrivateFiles(user, disk, listener);
    }

    /** Makes sure that the folder exists, is no link, belongs to the user, and is closed to others (0700). */
    public void folder(Path folder) {
        try {
            Optional<FileStatus> before = FileStatus.of(folder);
            if (before.isEmpty()) {
                create(folder);
                before = FileStatus.of(folder);
            }
            FileStatus status = before.orElseThrow(() -> failed(folder, "vanished while it was created"));
            if (!status.directory()) {
                throw failed(folder, "is not a folder" + (status.link() ? " but a link" : ""));
            }
            owned(folder, status);
            if (status.permissions() != 0700) {
                Files.setPosixFilePermissions(folder, OWNER_FOLDER);
            }
        } catch (IOException e) {
            throw failed(folder, "cannot be created or inspected", e);
        }
    }

    /** The content of the file, or nothing when it does not exist; more than {@code maxBytes} is a failure. */
    public Optional<byte[]> read(Path file, int maxBytes) {
        try {
            Optional<FileStatus> found = FileStatus.of(file);
            if (found.isEmpty()) {
                return Optional.empty();
            }
            FileStatus status = found.get();
            usable(file, status);
            try (FileChannel channel = FileChannel.open(file, options(StandardOpenOption.READ))) {
                stillThere(file, status);
                if (status.permissions() != 0600) {
                    Files.setPosixFilePermissions(file, OWNER_FILE);
                }
                if (status.open()) {
                    notices.accept(file + " was open to other accounts until now (mode "
                            + Integer.toOctalString(status.permissions())
                            + ") and has been closed (600); if one of them may have read or written it, move it away to have a"
                            + " new one made");
                }
                return Optional.of(readAll(file, channel, maxBytes));
            }
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw failed(file, "cannot be read", e);
        }
    }

    /** Replaces the file in one step that survives a crash: temporary file, fsync, rename, fsync of the folder. */
    public void write(Path file, byte[] content) {
        try {
            Optional<FileStatus> present = FileStatus.of(file);
            if (present.isPresent()) {
                usable(file, present.get());
            }
            Path temporary = temporary(file, content);
            try {
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(temporary);
            }
            syncFolder(file);
        } catch (IOException e) {
            throw failed(file, "cannot be written", e);
        }
    }

    /**
     * Takes the advisory lock beside {@code file} (same stem, {@code .lock}): tries every 25 ms for up to 5 s. One thread
     * of a process may hold the lock of a path at a time; callers see to that.
     */
    public Lock lock(Path file) {
        String name = file.getFileName().toString();
        int dot = name.lastIndexOf('.');
        Path path = file.resolveSibling((dot > 0 ? name.substring(0, dot) : name) + ".lock");
        try {
            FileChannel channel = lockFile(path);
            try {
                acquire(path, channel);
                return new Lock(channel);
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        } catch (IOException e) {
            throw failed(path, "cannot be locked", e);
        }
    }

    /** Locks the file itself, made first where it is missing; nothing when somebody else has the lock. Closing unlocks. */
    Optional<FileChannel> tryLock(Path path) {
        try {
            FileChannel channel = lockFile(path);
            if (lockedNow(channel)) {
                return Optional.of(channel);
            }
            channel.close();
            return Optional.empty();
        } catch (IOException e) {
            throw failed(path, "cannot be locked", e);
        }
    }

    private FileChannel lockFile(Path path) throws IOException {
        Optional<FileStatus> present = FileStatus.of(path);
        if (present.isPresent()) {
            usable(path, present.get());
        }
        FileChannel channel = FileChannel.open(
                path,
                Set.of(
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS),
                ownerOnly(OWNER_FILE));
        try {
            FileStatus status = FileStatus.of(path).orElseThrow(() -> failed(path, "vanished"));
            usable(path, status);
            if (status.permissions() != 0600) {
                Files.setPosixFilePermissions(path, OWNER_FILE);
            }
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static boolean lockedNow(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false; // another thread of this process holds it
        }
    }

    /** A held lock; closing it lets it go. */
    public static final class Lock implements AutoCloseable {
        private final FileChannel channel;

        private Lock(FileChannel channel) {
            this.channel = channel;
        }

        @Override
        public void close() {
            try {
                channel.close();
            } catch (IOException e) {
                throw new RelayException(FailureKind.STATE, "a lock file cannot be closed", e);
            }
        }
    }

    EffectiveUser user() {
        return user;
    }

    /** Removes what processes that were killed while they wrote this file have left; for the holder of its lock. */
    void removeUnfinished(Path file) {
        String pattern = "." + file.getFileName() + ".*" + UNFINISHED;
        try (DirectoryStream<Path> found = Files.newDirectoryStream(file.getParent(), pattern)) {
            for (Path unfinished : found) {
                Files.deleteIfExists(unfinished);
            }
        } catch (IOException | DirectoryIteratorException e) {
            // It costs space and nothing else; whoever cannot write here hears of it when it matters.
        }
    }

    /** Writes the content to a fresh owner-only file in the same folder and syncs it. */
    Path temporary(Path file, byte[] content) throws IOException {
        Path temporary = file.resolveSibling("." + file.getFileName() + "." + new Ids().uuid7() + UNFINISHED);
        Set<OpenOption> options =
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        try (FileChannel channel = FileChannel.open(temporary, options, ownerOnly(OWNER_FILE))) {
            ByteBuffer buffer = ByteBuffer.wrap(content);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            disk.sync(channel);
        } catch (IOException e) {
            Files.deleteIfExists(temporary);
            throw e;
        }
        return temporary;
    }

    void syncFolder(Path file) throws IOException {
        try (FileChannel folder = FileChannel.open(file.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
            disk.sync(folder);
        }
    }

    static byte[] readAll(Path file, FileChannel channel, int maxBytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(maxBytes, channel.size()) + 1);
        while (channel.read(buffer) >= 0 && buffer.hasRemaining()) {
            // until the end or one byte too many
        }
        if (buffer.position() > maxBytes) {
            throw failed(file, "holds more than " + maxBytes + " bytes");
        }
        byte[] content = new byte[buffer.position()];
        buffer.flip().get(content);
        return content;
    }

    static Set<OpenOption> options(StandardOpenOption option) {
        return Set.of(option, LinkOption.NOFOLLOW_LINKS);
    }

    static void createFolders(Path folder) throws IOException {
        Files.createDirectories(folder, ownerOnly(OWNER_FOLDER));
    }

    private static void create(Path folder) throws IOException {
        Path parent = folder.toAbsolutePath().getParent();
        if (parent != null) {
            createFolders(parent);
        }
        try {
            Files.createDirectory(folder, ownerOnly(OWNER_FOLDER));
        } catch (FileAlreadyExistsException e) {
            // another process was faster; its folder is checked like any other
        }
    }

    private static void acquire(Path path, FileChannel channel) throws IOException {
        long deadline = System.nanoTime() + LOCK_LIMIT_MS * 1_000_000;
        while (true) {
            if (lockedNow(channel)) {
                return;
            }
            if (System.nanoTime() - deadline >= 0) {
                throw failed(path, "is held by another process for more than 5 s");
            }
            try {
                Thread.sleep(LOCK_RETRY_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw failed(path, "was not locked: the thread was interrupted", e);
            }
        }
    }

    private void usable(Path file, FileStatus status) {
        if (status.link()) {
            throw failed(file, "is a link; put the file itself there");
        }
        if (!status.regular()) {
            throw failed(file, "is not a regular file; move it away");
        }
        owned(file, status);
    }

    private void owned(Path path, FileStatus status) {
        if (status.uid() != user.uid()) {
            throw failed(
                    path,
                    "belongs to user id " + status.uid() + ", not to " + user.uid() + "; give it to that account");
        }
    }

    private static void stillThere(Path file, FileStatus before) throws IOException {
        Optional<FileStatus> now = FileStatus.of(file);
        if (now.isEmpty() || !now.get().sameFile(before)) {
            throw failed(file, "changed while it was opened");
        }
    }

    private static FileAttribute<Set<PosixFilePermission>> ownerOnly(Set<PosixFilePermission> permissions) {
        return PosixFilePermissions.asFileAttribute(permissions);
    }

    static RelayException failed(Path path, String problem) {
        return new RelayException(FailureKind.STATE, path + " " + problem);
    }

    static RelayException failed(Path path, String problem, Exception cause) {
        String remedy = cause instanceof AccessDeniedException denied && denied.getFile() != null
                ? " at " + denied.getFile()
                        + "; give this account access there, or set XDG_CONFIG_HOME to a folder of its own"
                : "";
        return new RelayException(FailureKind.STATE, path + " " + problem + ": " + Reasons.of(cause) + remedy, cause);
    }
}
