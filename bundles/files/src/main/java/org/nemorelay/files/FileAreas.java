package org.nemorelay.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.nemorelay.files.internal.Hashes;

/** The folders of a worker that keys lead to: {@code models/...}, {@code data/...}, and all other keys. */
public record FileAreas(Path models, Path data, Path staging) {
    /** Where a key leads: the file, and the area that holds it. */
    private record Place(Path area, String prefix, Path file) {}

    /** The three areas as folders of one, which are made. */
    public static FileAreas below(Path root) throws IOException {
        FileAreas areas = new FileAreas(root.resolve("models"), root.resolve("data"), root.resolve("staging"));
        for (Path area : List.of(areas.models, areas.data, areas.staging)) {
            Files.createDirectories(area);
        }
        return areas;
    }

    /**
     * The file that a key, or the absolute path of a file in one of the areas, leads to; {@link IOException} when it leaves
     * them.
     */
    public Path file(String key) throws IOException {
        return place(key).file();
    }

    /**
     * The keys of the files below a prefix, in order, without what this protocol keeps beside files; none where there is no
     * such folder. {@link IOException} when the prefix leaves its area or cannot be read.
     */
    public List<String> list(String prefix) throws IOException {
        Place place = place(prefix);
        if (!Files.isDirectory(place.file())) {
            return List.of();
        }
        try (Stream<Path> found = Files.walk(place.file())) {
            return found.filter(Files::isRegularFile)
                    .filter(file -> !Hashes.reserved(file.getFileName().toString()))
                    .map(file -> place.prefix() + place.area().relativize(file))
                    .sorted()
                    .toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private Place place(String key) throws IOException {
        try {
            return placed(key);
        } catch (InvalidPathException e) {
            // A null, or a character that the file system's encoding lacks.
            throw new IOException("invalid key: it is no file name here", e);
        }
    }

    private Place placed(String key) throws IOException {
        if (key.isEmpty()) {
            throw new IOException("invalid key");
        }
        if (key.startsWith("/")) {
            for (Path area : List.of(models, data, staging)) {
                Path file = Path.of(key).normalize();
                if (inside(area, file)) {
                    return new Place(area, prefix(area), file);
                }
            }
            throw new IOException("path outside allowed directories");
        }
        for (String name : List.of("models", "data")) {
            if (key.equals(name) || key.startsWith(name + "/")) {
                Path area = name.equals("models") ? models : data;
                return checked(area, name + "/", key.equals(name) ? "" : key.substring(name.length() + 1));
            }
        }
        return checked(staging, "", key);
    }

    private String prefix(Path area) {
        return area.equals(models) ? "models/" : area.equals(data) ? "data/" : "";
    }

    private static Place checked(Path area, String prefix, String relative) throws IOException {
        Path file = area.resolve(relative).normalize();
        if (!inside(area, file)) {
            throw new IOException("invalid key: it leaves its folder");
        }
        return new Place(area, prefix, file);
    }

    /** Looks through links: what exists of the path must lie in the area, and so the rest does. */
    private static boolean inside(Path area, Path file) throws IOException {
        Path root = area.toRealPath();
        if (!file.startsWith(area) && !file.startsWith(root)) {
            return false;
        }
        Path there = file;
        while (there != null && !Files.exists(there)) {
            there = there.getParent();
        }
        return there != null && there.toRealPath().startsWith(root);
    }
}
