package org.nemorelay.config;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.protocol.Reasons;

/** Folders of bundle files that come and go: what lies in them, and whether it is the administrator's alone. */
public final class BundleFolders {
    private static final int OTHERS_MAY_WRITE = 0022;

    private final Path home;
    private final List<Path> folders;

    /** @param home the installed tree, whose owner may own bundle files beside root */
    public BundleFolders(Path home, Path... folders) {
        this.home = home;
        this.folders = List.of(folders);
    }

    public List<Path> folders() {
        return folders;
    }

    /** By what a file is known to have changed. */
    public record Stat(long size, FileTime modified, Object inode) {}

    /** What lies in a folder. */
    public sealed interface Entry {
        Path file();

        /** A jar that may be read. */
        record Jar(Path file, Stat stat) implements Entry {}

        /** What must not be used, and why; a folder stands for all that is in it. */
        record Refused(Path file, String reason) implements Entry {}

        /** What nobody takes for a bundle. */
        record Ignored(Path file, String reason) implements Entry {}
    }

    /** All folders, each in the order of its names. */
    public List<Entry> look() {
        List<Entry> entries = new ArrayList<>();
        for (Path folder : folders) {
            List<Path> files = new ArrayList<>();
            Optional<String> refusal = list(folder, files);
            files.sort(null);
            if (refusal.isPresent()) {
                entries.add(new Entry.Refused(folder, refusal.get()));
            } else {
                files.forEach(file -> entries.add(entry(file)));
            }
        }
        return entries;
    }

    private Optional<String> list(Path folder, List<Path> files) {
        if (!Files.exists(folder)) {
            return Optional.empty();
        }
        try {
            Optional<String> refusal = foreign(folder);
            if (refusal.isEmpty()) {
                try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
                    all.forEach(files::add);
                }
            }
            return refusal;
        } catch (IOException e) {
            return Optional.of("cannot be read (" + reason(e) + "), make it readable");
        }
    }

    private Entry entry(Path file) {
        if (!file.getFileName().toString().endsWith(".jar")) {
            return new Entry.Ignored(file, "ignored: its name does not end with .jar");
        }
        try {
            // A link is as good as the file it names and the folder which that file is in.
            Path real = file.toRealPath();
            if (!Files.isRegularFile(real)) {
                return new Entry.Refused(file, "is not a file, put the bundle's jar in its place");
            }
            Optional<String> refusal = foreign(real).or(() -> unchecked(real.getParent()));
            return refusal.isPresent() ? new Entry.Refused(file, refusal.get()) : new Entry.Jar(file, stat(real));
        } catch (IOException e) {
            return new Entry.Refused(file, "cannot be read (" + reason(e) + "), make it readable or remove it");
        }
    }

    private static Stat stat(Path file) throws IOException {
        var attributes = Files.readAttributes(file, java.nio.file.attribute.BasicFileAttributes.class);
        return new Stat(attributes.size(), attributes.lastModifiedTime(), String.valueOf(attributes.fileKey()));
    }

    private Optional<String> unchecked(Path folder) {
        try {
            return foreign(folder).map(reason -> "lies in a folder that " + reason);
        } catch (IOException e) {
            return Optional.of("lies in a folder that cannot be read (" + reason(e) + ")");
        }
    }

    /** Why a path is not the administrator's alone. */
    private Optional<String> foreign(Path path) throws IOException {
        int owner = (int) Files.getAttribute(path, "unix:uid");
        int treeOwner = (int) Files.getAttribute(home, "unix:uid");
        int mode = (int) Files.getAttribute(path, "unix:mode");
        if (owner != 0 && owner != treeOwner) {
            return Optional.of("belongs to user id " + owner + ", give it to root"
                    + (treeOwner == 0 ? "" : " or to user id " + treeOwner));
        }
        if ((mode & OTHERS_MAY_WRITE) != 0) {
            return Optional.of("can be written by group or others, run chmod go-w " + path);
        }
        return Optional.empty();
    }

    /** What went wrong with a file, without its name. */
    public static String reason(IOException e) {
        return Reasons.of(e);
    }
}
