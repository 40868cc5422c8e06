package org.nemorelay.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** A worker with plugins of its own, beside others at the same daemon, and one connection's load for it. */
final class PluginWorker implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final User user;
    private final McpSession session;
    private final int port;
    private final long process;
    private final Load load;

    /**
     * Starts it and waits until it serves.
     *
     * @param tree for its installed tree, beside which its home will be
     * @param jars puts what it needs into the folder for plugins
     */
    PluginWorker(Relay relay, Path tree, String configToml, String pluginsToml, Consumer<Path> jars) {
        Distribution.privateTree(tree, configToml, pluginsToml);
        jars.accept(tree.resolve("etc/plugins"));
        user = User.self(tree.resolveSibling(tree.getFileName() + "-home"));
        Set<Long> before = workers(relay);
        session = McpSession.initialized(user, tree.resolve("bin/nemo-relay"), relay);
        Await.until(
                () -> "one more worker is ready\n" + session.process().transcript(),
                PATIENCE,
                () -> relay.workers().stream()
                                .filter(worker -> worker.string("state").equals("ready"))
                                .count()
                        > before.size());
        Set<Long> more = new HashSet<>(workers(relay));
        more.removeAll(before);
        process = more.iterator().next();
        port = relay.port();
        load = new Load(port, "/v1/messages", user.header() + "\r\n");
    }

    /** Microseconds of each of so many requests on a new connection. */
    double[] latencies(int requests) {
        return load.latencies(requests);
    }

    ThreadTimes threads() {
        return ThreadTimes.of(process);
    }

    /** Milliseconds until a long stream is read. */
    double streamMillis() {
        return LongStreams.millis(port, user.header());
    }

    private static Set<Long> workers(Relay relay) {
        return ProcessTable.mentioning(relay.address()).stream()
                .filter(process -> process.arguments().contains("worker"))
                .map(ProcessTable.Entry::pid)
                .collect(Collectors.toSet());
    }

    @Override
    public void close() {
        session.end();
        session.close();
    }
}
