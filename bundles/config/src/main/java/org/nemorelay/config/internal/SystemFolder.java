package org.nemorelay.config.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;

/**
 * Where the administrator's files are. The installed tree's own {@code etc} replaces the system configuration of every
 * user's worker, so only the tree's owner may have written it.
 */
public final class SystemFolder {
    private static final Path SYSTEM = Path.of("/etc/nemo-relay");
    private static final int GROUP_OR_OTHERS_WRITE = 022;

    private SystemFolder() {}

    /** The folder of an installed tree. */
    public static Path of(Path home) {
        Path own = home.resolve("etc");
        if (!Files.exists(own, LinkOption.NOFOLLOW_LINKS)) {
            return SYSTEM;
        }
        check(home, own);
        return own;
    }

    /** Refuses a folder, or anything directly in it, that is a link, is owned by somebody else than the tree, or that others can write. */
    private static void check(Path home, Path folder) {
        try {
            Object owner = Files.getAttribute(home, "unix:uid");
            // Who can write the tree's root can put another folder in the place of this one.
            check(home, owner);
            check(folder, owner);
            if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                throw Failures.of(folder + " must be a folder");
            }
            try (Stream<Path> entries = Files.list(folder)) {
                for (Path entry : (Iterable<Path>) entries::iterator) {
                    check(entry, owner);
                }
            }
        } catch (IOException e) {
            throw new RelayException(FailureKind.CONFIGURATION, folder + " cannot be checked: " + Reasons.of(e), e);
        }
    }

    private static void check(Path path, Object owner) throws IOException {
        Map<String, Object> attributes =
                Files.readAttributes(path, "unix:uid,mode,isSymbolicLink", LinkOption.NOFOLLOW_LINKS);
        if (Boolean.TRUE.equals(attributes.get("isSymbolicLink"))) {
            throw Failures.of(path + " must not be a symbolic link");
        }
        if (!owner.equals(attributes.get("uid"))) {
            throw Failures.of(path + " must belong to the owner of the installed tree (uid " + owner + "), not to uid "
                    + attributes.get("uid"));
        }
        if (((Integer) attributes.get("mode") & GROUP_OR_OTHERS_WRITE) != 0) {
            throw Failures.of(path + " must not be writable by group or others: chmod go-w " + path);
        }
    }
}
