package org.nemorelay.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The folders of a worker that keys lead to: {@code models/...}, {@code data/...}, and all other keys. */
public record FileAreas(Path models, Path data, Path staging) {
    /** Where a key leads: the file, and the area that holds it. */
    record Place(Path area, String prefix, Path file) {}

    /** The three areas as folders of one, which are made. */
    public static FileAreas below(Path root) throws IOException {
        FileAreas areas = new FileAreas(root.resolve("models"), root.resolve("data"), root.resolve("staging"));
        for (Path area : List.of(areas.models, areas.data, areas.staging)) {
            Files.createDirectories(area);
        }
        return areas;
    }

    /** The file that a key, or an absolute path in one of the areas, leads to; {@link IOException} when it leaves them. */
    public Path file(String key) throws IOException {
        return place(key).file();
    }

    /** @param key a key, or the absolute path of a file in one of the areas; {@link IOException} when it leaves them */
    Place place(String key) throws IOException {
        if (key.isEmpty() || key.indexOf('\0') >= 0) {
            throw new IOException("invalid key");
        }
        if (key.startsWith("/")) {
            for (Path area : List.of(models, data, staging)) {
                Path file = Path.of(key).normalize();
                if (inside(area, file)) {
                    return new Place(area, "", file);
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
