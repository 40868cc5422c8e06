package org.nemorelay.daemon.internal;

import java.io.IOException;
import java.lang.annotation.Annotation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.control.ControlClient;
import org.nemorelay.control.ControlListener;
import org.nemorelay.control.ControlSession;
import org.nemorelay.control.McpRegistration;
import org.nemorelay.control.NetworkHint;
import org.nemorelay.control.WorkerRegistration;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.identity.GenerationFile;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SigningKey;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;

/** A real daemon in this process, with state in a folder of its own, and the peers that a test needs. */
final class TestDaemon implements AutoCloseable {
    private static final long DEADLINE_MS = 20_000;

    final Path folder;
    final Map<String, String> environment = new HashMap<>();
    final Map<String, Object> settings = new HashMap<>();
    final List<String> events = new CopyOnWriteArrayList<>();
    final List<RelayException> failures = new CopyOnWriteArrayList<>();
    final Ids ids = new Ids();
    BiFunction<StateFolder, Integer, GenerationFile> record = StateFolder::generations;
    HttpEngine engine;
    DaemonServer server;

    TestDaemon() throws IOException {
        folder = Files.createTempDirectory("nemo-relay-daemon");
        environment.put("XDG_CONFIG_HOME", folder.resolve("service").toString());
        settings.put("port", 0);
    }

    TestDaemon with(String key, Object value) {
        settings.put(key, value);
        return this;
    }

    TestDaemon start() {
        engine = HttpEngine.create(Map.of());
        server = new DaemonServer(
                engine,
                log(),
                process(),
                new LaunchOptions("daemon", folder, Map.of(), environment),
                new Daemon(settings),
                new Upstream(settings),
                record);
        return this;
    }

    void restart() {
        int port = port();
        stop();
        settings.put("port", port);
        start();
    }

    /** The record that the daemon has. */
    GenerationFile generations() {
        return StateFolder.of(environment).generations((Integer) settings.get("port"));
    }

    void stop() {
        server.stop();
        engine.close();
    }

    int port() {
        return url().port();
    }

    DaemonUrl url() {
        return server.url().orElseThrow(() -> new AssertionError("the daemon did not start: " + failures));
    }

    /** When a registration has taken too long. */
    private static long soon() {
        return System.nanoTime() + DEADLINE_MS * 1_000_000;
    }

    /** A machine user with a key and pins. */
    User user(String name) {
        return new User(name);
    }

    static void await(String what, BooleanSupplier condition) {
        await(() -> what, condition);
    }

    /** The same with a text that is made at the time of the failure. */
    static void await(Supplier<String> what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE_MS * 1_000_000;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not within " + DEADLINE_MS + " ms: " + what.get());
            }
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() throws IOException {
        if (server != null) {
            stop();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** One user on one machine. */
    final class User {
        final RouteToken token;
        final SigningKey key;
        private final StateFolder state;

        User(String name) {
            state = StateFolder.at(folder.resolve(name));
            key = state.machineIdentity();
            token = RouteToken.parse(ids.secret().text()).orElseThrow();
        }

        Mcp mcp() {
            return new Mcp(this, token, ids.uuid7());
        }

        String header() {
            return "x-nemo-relay-client-token: " + token.text();
        }
    }

    /** A harness session's lifecycle client. */
    final class Mcp implements ControlListener, AutoCloseable {
        final BlockingQueue<Directive> told = new LinkedBlockingQueue<>();
        final BlockingQueue<ServerEvent.WorkerUnreachable> unreachable = new LinkedBlockingQueue<>();
        final ControlClient client;
        final String id;
        final User user;
        ControlSession session;
        Directive first;
        volatile boolean gone;

        Mcp(User user, RouteToken token, String id) {
            this.user = user;
            this.id = id;
            client = new ControlClient(url(), Role.MCP, id, user.key, user.state.pins(), ids, new ClientTls(Map.of()));
            register(token);
        }

        void register(RouteToken token) {
            McpRegistration registration =
                    client.registerMcp(token, new NetworkHint("127.0.0.1", OptionalInt.empty()), this, soon());
            session = registration.session();
            first = registration.directive();
        }

        @Override
        public boolean directive(Directive directive) {
            return told.add(directive);
        }

        @Override
        public void unreachable(ServerEvent.WorkerUnreachable event) {
            unreachable.add(event);
        }

        @Override
        public void disconnected() {
            gone = true;
        }

        <T extends Directive> T await(Class<T> type) throws InterruptedException {
            while (true) {
                Directive directive = told.poll(DEADLINE_MS, TimeUnit.MILLISECONDS);
                if (directive == null) {
                    throw new AssertionError("was not told to " + type.getSimpleName());
                }
                if (type.isInstance(directive)) {
                    return type.cast(directive);
                }
            }
        }

        void release() {
            session.request(new SessionPayload.Release());
        }

        @Override
        public void close() {
            session.close();
        }
    }

    /** A worker with a control connection; its data plane is a {@link FakeServer}. */
    final class Worker implements ControlListener, AutoCloseable {
        final String id = ids.uuid7();
        final BlockingQueue<ServerEvent.Drain> drains = new LinkedBlockingQueue<>();
        final FakeServer data;
        final ControlClient client;
        WorkerRegistration registration;
        volatile boolean gone;

        Worker(User user, FakeServer data) {
            this.data = data;
            client = new ControlClient(
                    url(), Role.WORKER, id, user.key, user.state.pins(), ids, new ClientTls(Map.of()));
        }

        Worker register(LaunchGrant grant) {
            return register(grant, data.url(), Optional.empty());
        }

        Worker register(LaunchGrant grant, String endpoint, Optional<String> root) {
            registration = client.registerWorker(endpoint, grant, root, this, soon());
            return this;
        }

        Worker recover() {
            registration =
                    client.recoverWorker(data.url(), Optional.empty(), registration.generationGrant(), this, soon());
            return this;
        }

        Worker ready() {
            registration.session().request(new SessionPayload.Ready(id), 30_000);
            return this;
        }

        @Override
        public void drain(ServerEvent.Drain drain) {
            drains.add(drain);
        }

        @Override
        public void disconnected() {
            gone = true;
        }

        @Override
        public void close() {
            registration.session().close();
        }
    }

    private EventLog log() {
        return new EventLog() {
            @Override
            public boolean enabled(Level level) {
                return true;
            }

            @Override
            public void log(Level level, String target, String event, String message, Object... fields) {
                events.add(event + " " + List.of(fields) + " " + message);
            }

            @Override
            public void flush() {}
        };
    }

    private ProcessControl process() {
        return new ProcessControl() {
            @Override
            public void ready() {
                events.add("ready");
            }

            @Override
            public void fail(RelayException failure) {
                failures.add(failure);
            }

            @Override
            public void exit(int status) {
                events.add("exit " + status);
            }
        };
    }

    @SuppressWarnings("unchecked")
    private static <T> T setting(Map<String, Object> settings, String key, T otherwise) {
        return (T) settings.getOrDefault(key, otherwise);
    }

    private record Daemon(Map<String, Object> settings) implements DaemonConfiguration {
        @Override
        public String bind() {
            return setting(settings, "bind", "127.0.0.1");
        }

        @Override
        public int port() {
            return setting(settings, "port", 0);
        }

        @Override
        public String advertise__address() {
            return setting(settings, "advertise_address", "");
        }

        @Override
        public boolean pass__through() {
            return setting(settings, "pass_through", false);
        }

        @Override
        public boolean require__worker() {
            return setting(settings, "require_worker", false);
        }

        @Override
        public int max__tokens__per__identity() {
            return setting(settings, "max_tokens_per_identity", 4);
        }

        @Override
        public String tls__cert() {
            return setting(settings, "tls_cert", "");
        }

        @Override
        public String tls__key() {
            return setting(settings, "tls_key", "");
        }

        @Override
        public int upgrades__per__address() {
            return setting(settings, "upgrades_per_address", 0);
        }

        @Override
        public String trusted__proxies() {
            return setting(settings, "trusted_proxies", "");
        }

        @Override
        public Class<? extends Annotation> annotationType() {
            return DaemonConfiguration.class;
        }
    }

    private record Upstream(Map<String, Object> settings) implements UpstreamConfiguration {
        @Override
        public String openai__base__url() {
            return setting(settings, "openai_base_url", "http://127.0.0.1:1/v1");
        }

        @Override
        public String openai__auth__header() {
            return setting(settings, "openai_auth_header", "");
        }

        @Override
        public String anthropic__base__url() {
            return setting(settings, "anthropic_base_url", "http://127.0.0.1:1");
        }

        @Override
        public String anthropic__auth__header() {
            return setting(settings, "anthropic_auth_header", "");
        }

        @Override
        public String chatgpt__codex__base__url() {
            return setting(settings, "chatgpt_codex_base_url", "http://127.0.0.1:1/backend-api/codex");
        }

        @Override
        public long response__timeout__secs() {
            return setting(settings, "response_timeout_secs", 0L);
        }

        @Override
        public Class<? extends Annotation> annotationType() {
            return UpstreamConfiguration.class;
        }
    }
}
