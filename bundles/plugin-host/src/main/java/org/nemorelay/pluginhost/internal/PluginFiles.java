package org.nemorelay.pluginhost.internal;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.zip.ZipException;

/** The plugin folders of a worker and the checks that a file passes before the framework sees it. */
final class PluginFiles {
    private static final int OTHERS_MAY_WRITE = 0022;

    private final Path home;
    private final List<Path> folders;

    /** @param home the installed tree, whose owner may own plugins beside root */
    PluginFiles(Path home, Path systemFolder) {
        this.home = home;
        this.folders = List.of(home.resolve("plugins"), systemFolder.resolve("plugins"));
    }

    List<Path> folders() {
        return folders;
    }

    /** A file in a plugin folder and, where it must not be used, the reason. */
    record Candidate(Path file, Optional<String> refusal) {}

    /** The jars of both folders in the order of their names; a folder that must not be used stands for all its files. */
    List<Candidate> scan() {
        List<Candidate> candidates = new ArrayList<>();
        for (Path folder : folders) {
            List<Path> jars = new ArrayList<>();
            Optional<String> refusal = list(folder, jars);
            jars.sort(null);
            if (refusal.isPresent()) {
                candidates.add(new Candidate(folder, refusal));
            } else {
                jars.forEach(jar -> candidates.add(new Candidate(jar, refusalOf(jar))));
            }
        }
        return candidates;
    }

    private Optional<String> list(Path folder, List<Path> jars) {
        if (!Files.exists(folder)) {
            return Optional.empty();
        }
        try {
            Optional<String> refusal = foreign(folder);
            if (refusal.isEmpty()) {
                try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.jar")) {
                    files.forEach(jars::add);
                }
            }
            return refusal;
        } catch (IOException e) {
            return Optional.of("cannot be read (" + reason(e) + "), make it readable");
        }
    }

    private Optional<String> refusalOf(Path jar) {
        try {
            // A link is as good as the file it names and the folder which that file is in.
            Path real = jar.toRealPath();
            Optional<String> refusal = foreign(real).or(() -> unchecked(real.getParent()));
            return refusal.isPresent() ? refusal : unusable(real);
        } catch (IOException e) {
            return Optional.of("cannot be read (" + reason(e) + "), make it readable or remove it");
        }
    }

    private Optional<String> unchecked(Path folder) {
        try {
            return foreign(folder).map(reason -> "lies in a folder that " + reason);
        } catch (IOException e) {
            return Optional.of("its folder cannot be read (" + reason(e) + ")");
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

    /** Why a jar is no bundle. */
    private static Optional<String> unusable(Path jar) {
        try (JarFile content = new JarFile(jar.toFile())) {
            Manifest manifest = content.getManifest();
            if (manifest == null) {
                return Optional.of("has no manifest, build it as an OSGi bundle");
            }
            if (manifest.getMainAttributes().getValue("Bundle-SymbolicName") == null) {
                return Optional.of("is no OSGi bundle, its manifest lacks Bundle-SymbolicName");
            }
            return Optional.empty();
        } catch (ZipException e) {
            return Optional.of("is not a whole jar (" + e.getMessage() + "), copy it again");
        } catch (IOException e) {
            return Optional.of("cannot be read (" + reason(e) + "), copy it again");
        }
    }

    private static String reason(IOException e) {
        return e instanceof FileSystemException file && file.getReason() != null
                ? file.getReason()
                : e.getClass().getSimpleName();
    }
}
