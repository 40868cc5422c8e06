package org.nemorelay.it.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Relay;

/**
 * One daemon and one ready worker, shared by the tests that only send requests: with the user's token through the worker,
 * without it in pass-through. The provider sees the worker's requests under {@code /worker}.
 */
final class Line implements AutoCloseable {
    private final Path folder;
    final Clients clients = new Clients();
    final OneUser bench;
    final Relay relay;
    final McpSession mcp;

    private Line() {
        try {
            folder = Files.createTempDirectory("nemo-relay-line");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        bench = new OneUser(folder, "", Route.WORKER.at(""));
        relay = bench.daemon();
        mcp = McpSession.initialized(bench.user, bench.executable, relay);
        relay.awaitReadyWorker(mcp);
    }

    MockProvider provider() {
        return bench.provider;
    }

    Call post(Version version, Route route, String target, String... headers) throws IOException {
        return clients.post(version, relay.port(), target, route.headers(bench.user, headers));
    }

    /** One request with this body, sent and not yet read. */
    Call send(Version version, Route route, String target, byte[] body, String... headers) throws IOException {
        return post(version, route, target, headers).data(body).end();
    }

    long daemonPid() {
        return relay.process().pid();
    }

    long workerPid() {
        return bench.workers().getFirst().pid();
    }

    void awaitNothingInFlight() {
        Await.until(
                "nothing is in flight",
                Duration.ofSeconds(5),
                () -> relay.workers().getFirst().integer("in_flight", 0, 10_000) == 0);
    }

    @Override
    public void close() {
        clients.close();
        mcp.close();
        relay.close();
        bench.close();
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Hands the line to test methods; made by the first that asks. */
    static class Shared implements ParameterResolver {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == Line.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return owner(context)
                    .getStore(ExtensionContext.Namespace.create(Line.class))
                    .getOrComputeIfAbsent(Line.class, key -> new Line(), Line.class);
        }

        ExtensionContext owner(ExtensionContext context) {
            return context.getRoot();
        }
    }

    /** A line for one test class, whose connections nobody else has used or gets to use. */
    static final class OfOneClass extends Shared {
        @Override
        ExtensionContext owner(ExtensionContext context) {
            ExtensionContext owner = context;
            while (owner.getTestMethod().isPresent()) {
                owner = owner.getParent().orElseThrow();
            }
            return owner;
        }
    }
}
