package org.nemorelay.plugin.observability.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.plugin.api.Event;

class AtofFileSinkTest {
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-03-04T05:06:07Z"), ZoneOffset.UTC);

    @TempDir
    private Path folder;

    @Test
    void writesALinePerEventIntoANewPrivateFile() throws Exception {
        Observability plugin = plugin(Map.of("atof.sinks.0.output_directory", folder + "/a/b"));
        Path file = folder.resolve("a/b/nemo-relay-events-2026-03-04-05.06.07.jsonl");
        plugin.onEvent(event("one"));
        assertEquals(event("one").toJsonLine() + "\n", Files.readString(file), "written before anybody flushes");
        plugin.onEvent(event("ü"));
        plugin.flush();
        plugin.close();
        assertEquals(List.of(event("one").toJsonLine(), event("ü").toJsonLine()), Files.readAllLines(file));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }

    @Test
    void eachUserMayHaveAFolderAndAFileOfItsOwn() {
        String user = System.getProperty("user.name");
        Observability plugin = plugin(Map.of(
                "atof.sinks.0.output_directory", folder + "/{user}", "atof.sinks.0.filename", "events-{user}.jsonl"));
        plugin.close();
        assertTrue(Files.exists(folder.resolve(user).resolve("events-" + user + ".jsonl")));
    }

    @Test
    void appendsOrOverwrites() throws Exception {
        Path file = folder.resolve("e.jsonl");
        Files.writeString(file, "old\n");
        Map<String, Object> sink =
                Map.of("atof.sinks.0.output_directory", folder.toString(), "atof.sinks.0.filename", "e.jsonl");
        Observability appending = plugin(sink);
        appending.onEvent(event("one"));
        appending.close();
        assertEquals(List.of("old", event("one").toJsonLine()), Files.readAllLines(file));
        Map<String, Object> overwrite = new TreeMap<>(sink);
        overwrite.put("atof.sinks.0.mode", "overwrite");
        Observability overwriting = plugin(overwrite);
        overwriting.onEvent(event("two"));
        overwriting.close();
        assertEquals(List.of(event("two").toJsonLine()), Files.readAllLines(file));
    }

    @Test
    void anAccountWithoutANameGoesByItsNumber() throws Exception {
        assertEquals("alice", Observability.user("alice"));
        String number = Files.getAttribute(folder, "unix:uid").toString();
        assertEquals(number, Observability.user("?"));
        assertEquals(number, Observability.user(""));
    }

    @Test
    void aFailedWriteIsOfOneSinkAloneAndToldAsLongAsItLasts() throws Exception {
        Assumptions.assumeTrue(Files.isWritable(Path.of("/dev/full")), "this system has no /dev/full to write to");
        Observability plugin = plugin(Map.of(
                "atof.sinks.0.output_directory",
                "/dev",
                "atof.sinks.0.filename",
                "full",
                "atof.sinks.1.type",
                "file",
                "atof.sinks.1.output_directory",
                folder.toString(),
                "atof.sinks.1.filename",
                "good.jsonl"));
        IOException e = assertThrows(IOException.class, () -> plugin.onEvent(event("one")));
        assertEquals("events do not reach /dev/full: No space left on device", e.getMessage());
        assertThrows(IOException.class, plugin::flush);
        e = assertThrows(IOException.class, () -> plugin.onEvent(event("two")));
        assertEquals(e, assertThrows(IOException.class, plugin::flush));
        plugin.close();
        assertEquals(2, Files.readAllLines(folder.resolve("good.jsonl")).size());
    }

    private static Observability plugin(Map<String, ?> more) {
        Map<String, Object> properties = new TreeMap<>(more);
        properties.put("version", 4L);
        properties.put("atof.enabled", true);
        properties.put("atof.sinks.0.type", "file");
        return new Observability(properties, CLOCK, Map.of());
    }

    private static Event event(String name) {
        return Event.of(Map.of(
                "atof_version",
                "0.1",
                "kind",
                "mark",
                "name",
                name,
                "uuid",
                "u",
                "timestamp",
                "2026-03-04T05:06:07+00:00"));
    }
}
