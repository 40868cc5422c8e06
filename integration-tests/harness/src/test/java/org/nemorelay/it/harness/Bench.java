package org.nemorelay.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.json.Json;

/** A user with a project, a running daemon, and two providers, of which the worker knows one and the daemon the other. */
final class Bench implements AutoCloseable {
    /** A worker outlives a lost session by 30 s. */
    private static final Duration NOTHING_LEFT = Duration.ofSeconds(35);

    final MockProvider pastTheWorker = new MockProvider();
    final MockProvider behindTheWorker = new MockProvider();
    final Path events;
    final User user;
    final Path executable;
    final Path project;
    final Relay relay;

    /** @param components of plugins.toml beside the observability plugin */
    Bench(Path folder, String components) {
        events = folder.resolve("events.jsonl");
        user = User.self(folder.resolve("home"));
        project = user.home().resolve("project");
        try {
            Files.createDirectories(project);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        executable = Distribution.privateTree(
                        folder.resolve("tree"),
                        Relay.upstreamToml(behindTheWorker),
                        Relay.observabilityToml(folder) + components)
                .resolve("bin/nemo-relay");
        relay = Relay.start(user, executable, Relay.upstream(pastTheWorker));
    }

    /** What both providers answer on the harness's path. */
    Bench respond(Harness harness, MockProvider.Responder responder) {
        pastTheWorker.respond(harness.path, responder);
        behindTheWorker.respond(harness.path, responder);
        return this;
    }

    /** Hooks of these events, as Codex and Claude Code write them. */
    Map<String, Object> hooks(String agent, String... names) {
        String command = executable + " daemon hook " + agent + " --daemon-address " + relay.address();
        Map<String, Object> hooks = new LinkedHashMap<>();
        for (String name : names) {
            hooks.put(
                    name,
                    List.of(Map.of("hooks", List.of(Map.of("type", "command", "command", command, "timeout", 10)))));
        }
        return Map.of("hooks", hooks);
    }

    /** The arguments of the lifecycle client. */
    List<String> lifecycle() {
        return List.of("daemon", "mcp", "--daemon-address", relay.address());
    }

    Path file(String name, Map<String, Object> content) {
        return file(name, Json.write(content));
    }

    /** Writes a file of the user's, readable by nobody else. */
    Path file(String name, String content) {
        Path file = user.home().resolve(name);
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, content);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The processes of the user but the daemon. */
    List<ProcessTable.Entry> processes() {
        return ProcessTable.mentioning(user.home().toString()).stream()
                .filter(process -> process.pid() != relay.process().pid())
                .toList();
    }

    void awaitNothingLeft() {
        Await.until(
                () -> "no process of the user is left beside the daemon: " + processes(),
                NOTHING_LEFT,
                () -> processes().isEmpty());
        relay.awaitNoWorker(Duration.ofSeconds(1));
    }

    @Override
    public void close() {
        relay.close();
        pastTheWorker.close();
        behindTheWorker.close();
    }
}
