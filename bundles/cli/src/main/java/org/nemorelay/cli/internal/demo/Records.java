package org.nemorelay.cli.internal.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Reasons;

/** The plugin's ATOF 0.1 records (plugins 1), read from its folder. */
final class Records {
    private final Path folder;

    Records(Path folder) {
        this.folder = folder;
    }

    /** Every complete record so far. */
    List<JsonObject> all() {
        List<JsonObject> records = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                for (String line : Files.readAllLines(file)) {
                    records.add(Json.parseObject(line));
                }
            }
        } catch (IOException e) {
            throw new DemoFailure("the plugin's records cannot be read: " + Reasons.of(e), e);
        } catch (JsonException e) {
            return records; // Its last line is being written.
        }
        return records;
    }

    /** The first scope event of that category at that end of its scope. */
    Optional<JsonObject> scope(String category, String end) {
        return all().stream()
                .filter(record -> category.equals(record.values().get("category"))
                        && end.equals(record.values().get("scope_category")))
                .findFirst();
    }

    static Instant time(JsonObject record) {
        return OffsetDateTime.parse(record.string("timestamp")).toInstant();
    }
}
