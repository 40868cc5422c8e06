package org.nemorelay.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** The ATOF lines that the observability plugin wrote. */
public final class Events {
    private Events() {}

    public static List<JsonObject> in(Path file) {
        try {
            return Files.exists(file)
                    ? Files.readAllLines(file).stream().map(Json::parseObject).toList()
                    : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for an event that satisfies the condition. */
    public static JsonObject await(Path file, String what, Predicate<JsonObject> condition) {
        try {
            return Await.value(
                    "event " + what,
                    Duration.ofSeconds(10),
                    () -> in(file).stream().filter(condition).findFirst().orElse(null));
        } catch (AssertionError absent) {
            List<String> names = in(file).stream()
                    .map(event -> event.string("name") + " "
                            + event.optionalString("scope_category").orElse(""))
                    .toList();
            throw new AssertionError(absent.getMessage() + ", recorded are " + names, absent);
        }
    }

    /** Start or end of a scope with this name. */
    public static Predicate<JsonObject> scope(String name, String category) {
        return event -> event.string("name").equals(name)
                && event.optionalString("scope_category").orElse("").equals(category);
    }
}
