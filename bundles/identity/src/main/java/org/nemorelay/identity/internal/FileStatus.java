package org.nemorelay.identity.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** What {@code lstat} says about a path. */
public record FileStatus(int mode, int uid, long device, long inode, long size) {
    private static final int TYPE = 0170000;
    private static final int REGULAR = 0100000;
    private static final int DIRECTORY = 0040000;
    private static final int LINK = 0120000;

    /** The status of the path itself, links not followed; nothing when it does not exist. */
    public static Optional<FileStatus> of(Path path) throws IOException {
        try {
            Map<String, Object> values =
                    Files.readAttributes(path, "unix:mode,uid,dev,ino,size", LinkOption.NOFOLLOW_LINKS);
            return Optional.of(new FileStatus(
                    (Integer) values.get("mode"),
                    (Integer) values.get("uid"),
                    (Long) values.get("dev"),
                    (Long) values.get("ino"),
                    (Long) values.get("size")));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    public boolean regular() {
        return (mode & TYPE) == REGULAR;
    }

    public boolean directory() {
        return (mode & TYPE) == DIRECTORY;
    }

    public boolean link() {
        return (mode & TYPE) == LINK;
    }

    public int permissions() {
        return mode & 07777;
    }

    /** Whether group or others have any right. */
    public boolean open() {
        return (mode & 077) != 0;
    }

    /** Whether group or others can write. */
    public boolean writableByOthers() {
        return (mode & 022) != 0;
    }

    public boolean sameFile(FileStatus other) {
        return device == other.device && inode == other.inode;
    }
}
