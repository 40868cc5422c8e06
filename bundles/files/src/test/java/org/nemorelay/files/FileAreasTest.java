package org.nemorelay.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileAreasTest {
    @TempDir
    Path root;

    private FileAreas areas;

    @BeforeEach
    void below() throws IOException {
        areas = FileAreas.below(root.toRealPath());
    }

    @Test
    void keysLeadToTheirAreas() throws IOException {
        assertEquals(areas.models().resolve("m/a"), areas.file("models/m/a"));
        assertEquals(areas.data().resolve("a"), areas.file("data/a"));
        assertEquals(areas.staging().resolve("modelsx/a"), areas.file("modelsx/a"));
        assertEquals(
                areas.data().resolve("a"), areas.file(areas.data().resolve("a").toString()));
    }

    @Test
    void whatLeavesItsAreaIsNoKey() throws IOException {
        Files.createSymbolicLink(areas.data().resolve("out"), Path.of("/etc"));
        for (String key : List.of(
                "", "..", "models/../../x", "data/../models/../../x", "/etc/passwd", "data/out/passwd", "a\0b")) {
            assertThrows(IOException.class, () -> areas.file(key), key);
        }
    }

    @Test
    void aListingHasKeysAndNotWhatIsKeptBesideThem() throws IOException {
        Files.createDirectories(areas.models().resolve("m/sub"));
        for (String name : List.of("m/b", "m/a", "m/sub/c", "m/a.sha256", "m/d.part", "m/d.sha256.target")) {
            Files.writeString(areas.models().resolve(name), name);
        }
        List<String> expected = List.of("models/m/a", "models/m/b", "models/m/sub/c");
        assertEquals(expected, areas.list("models/m"));
        assertEquals(expected, areas.list(areas.models().resolve("m").toString()), "by its path, the same keys");
        assertEquals(List.of(), areas.list("models/nothing"));
        assertThrows(IOException.class, () -> areas.list("../x"));
    }
}
