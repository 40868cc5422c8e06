package org.nemorelay.node.internal;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/**
 * How a backend is started.
 *
 * @param command program and arguments; {@code {address}} stands for host:port to listen at, otherwise {@code --addr host:port}
 *     is added, as LocalAI's backends have it
 */
record BackendCommand(String name, List<String> command) {
    private static final String ADDRESS = "{address}";

    static BackendCommand parse(String json) {
        JsonObject object = Json.parseObject(json);
        return new BackendCommand(object.string("name"), object.strings("command"));
    }

    /** The deterministic backend of the installed tree. */
    static BackendCommand echo(Path home) {
        return new BackendCommand("echo", List.of(home.resolve("bin/nemo-relay").toString(), "backend", "echo"));
    }

    List<String> at(String address) {
        if (command.stream().anyMatch(word -> word.contains(ADDRESS))) {
            return command.stream().map(word -> word.replace(ADDRESS, address)).toList();
        }
        List<String> words = new ArrayList<>(command);
        words.add("--addr");
        words.add(address);
        return words;
    }
}
