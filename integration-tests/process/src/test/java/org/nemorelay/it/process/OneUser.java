package org.nemorelay.it.process;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** A provider, a private tree whose workers use it and record, and a user: what most tests begin with. */
final class OneUser implements AutoCloseable {
    final MockProvider provider = new MockProvider();
    final User user;
    final Path executable;
    final Path events;

    OneUser(Path folder) {
        this(folder, "");
    }

    /** @param components of plugins.toml beside the observability plugin */
    OneUser(Path folder, String components) {
        this(folder, components, "");
    }

    /** @param workersPath of the provider's, so that it tells a worker's requests from those in pass-through */
    OneUser(Path folder, String components, String workersPath) {
        user = User.self(folder.resolve("home"));
        events = folder.resolve("events.jsonl");
        executable = Distribution.privateTree(
                        folder.resolve("tree"),
                        Relay.upstreamToml(provider.origin() + workersPath),
                        Relay.observabilityToml(folder) + components)
                .resolve("bin/nemo-relay");
    }

    Relay daemon(String... options) {
        return Relay.start(user, executable, Relay.upstream(provider), options);
    }

    /** What the harness's hook says before a tool call of {@code Bash}. */
    Proc.Result bashHook(Relay relay) {
        String payload = "{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\","
                + "\"tool_input\":{\"command\":\"echo hi\"},\"tool_use_id\":\"c\"}";
        return user.withToken(executable.toString(), "daemon", "hook", "claude", "--daemon-address", relay.address())
                .run(payload.getBytes(StandardCharsets.UTF_8), Duration.ofSeconds(30));
    }

    List<ProcessTable.Entry> workers() {
        return ProcessTable.mentioning(user.home().toString()).stream()
                .filter(process -> process.arguments().contains("worker"))
                .toList();
    }

    void awaitNoWorkerProcess() {
        Await.until(
                "no worker process is left",
                Duration.ofSeconds(10),
                () -> workers().isEmpty());
    }

    @Override
    public void close() {
        provider.close();
    }
}
