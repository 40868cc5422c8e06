package org.nemorelay.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.SystemFolder;
import org.nemorelay.it.User;

/**
 * {@code Main report FILE} measures everything and writes the report; {@code Main memory MINUTES FILE} loads one daemon and
 * its worker for so long and writes what became of their memory; {@code Main plugins GROUPS FILE} writes what plugins cost a
 * request, as so many groups of processes have measured.
 */
public final class Main {
    private static final String NO_PLUGINS = "version = 1\n";

    private final Path folder;
    private final MockProvider provider;
    private final LeanProvider lean;

    private Main(Path folder, MockProvider provider, LeanProvider lean) {
        this.folder = folder;
        this.provider = provider;
        this.lean = lean;
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Run.begin("nemo-relay-bench");
        Targets targets = new Targets();
        try (MockProvider provider = new MockProvider();
                LeanProvider lean = new LeanProvider()) {
            Main main = new Main(folder, provider, lean);
            String report = switch (arguments[0]) {
                case "memory" -> main.memory(Integer.parseInt(arguments[1]));
                case "plugins" -> new PluginBench(folder, lean, Integer.parseInt(arguments[1]), targets).run();
                default -> main.measure(targets);
            };
            Files.writeString(Path.of(arguments[arguments.length - 1]), report);
            System.out.println(report);
        }
        System.exit(targets.exitStatus());
    }

    private String measure(Targets targets) throws IOException, InterruptedException {
        Subject ours = ours();
        Optional<Subject> other = other();
        double nothing = Samples.take(2, 11, StartBench::nothing).median();
        Report.Figures figures = new Report.Figures(
                nothing, start(ours), new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
        progress("direct");
        figures.ways().put("direct", RequestBench.run(lean.port(), "", List.of()));
        requests(ours, figures);
        if (other.isPresent()) {
            figures.other().putAll(start(other.get()));
            requests(other.get(), figures);
        }
        return Report.markdown(figures, targets);
    }

    private String memory(int minutes) {
        Subject ours = ours();
        User user = user(ours);
        try (Relay relay = relay(ours, user);
                McpSession session = worker(ours, user, relay)) {
            String report = MemoryBench.run(
                    relay.port(), user.header() + "\r\n", relay.process().pid(), StartBench.worker(relay), minutes);
            session.end();
            return report;
        }
    }

    private Subject ours() {
        Path tree = Distribution.privateTree(folder.resolve("tree"), toml(), NO_PLUGINS);
        return new Subject("ours", tree.resolve("bin/nemo-relay"), UnaryOperator.identity());
    }

    private Map<String, Double> start(Subject subject) {
        progress(subject.name() + ", start");
        return new StartBench(subject, user(subject), provider).run();
    }

    private void requests(Subject subject, Report.Figures figures) {
        User user = user(subject);
        progress(subject.name() + ", pass-through");
        try (Relay relay = relay(subject, user)) {
            long daemon = relay.process().pid();
            figures.ways().put(subject.name() + ", pass-through", RequestBench.run(relay.port(), "", List.of(daemon)));
            progress(subject.name() + ", through the worker");
            try (McpSession session = worker(subject, user, relay)) {
                long worker = StartBench.worker(relay);
                String header = user.header() + "\r\n";
                figures.ways()
                        .put(
                                subject.name() + ", through the worker",
                                RequestBench.run(relay.port(), header, List.of(daemon, worker)));
                progress(subject.name() + ", slow streams");
                figures.slow().put(subject.name(), RequestBench.slowStreams(relay.port(), header, daemon, worker));
                session.end();
            }
        }
    }

    private Relay relay(Subject subject, User user) {
        return Relay.start(
                user,
                subject.executable(),
                Proc.spec()
                        .env("NEMO_RELAY_ANTHROPIC_BASE_URL", lean.origin())
                        .env("NEMO_RELAY_OPENAI_BASE_URL", lean.origin() + "/v1"));
    }

    private static McpSession worker(Subject subject, User user, Relay relay) {
        Proc.Spec mcp =
                user.withToken(subject.executable().toString(), "daemon", "mcp", "--daemon-address", relay.address());
        McpSession session = McpSession.start(subject.around().apply(mcp));
        session.initialize();
        relay.awaitReadyWorker();
        return session;
    }

    static void progress(String what) {
        System.err.println(LocalTime.now().truncatedTo(ChronoUnit.SECONDS) + " " + what);
    }

    private User user(Subject subject) {
        return User.self(folder.resolve("home-" + subject.name()));
    }

    private String toml() {
        return "[upstream]\nanthropic_base_url = \"" + lean.origin() + "\"\nopenai_base_url = \"" + lean.origin()
                + "/v1\"\n";
    }

    /** The stock binary, or what {@code NEMO_RELAY_BENCH_OTHER} names; nothing where neither is to be had. */
    private Optional<Subject> other() throws IOException, InterruptedException {
        String named = System.getenv("NEMO_RELAY_BENCH_OTHER");
        if (named == null) {
            Process fetch = new ProcessBuilder(System.getProperty("nemorelay.tools") + "/fetch", "stock")
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            named = new String(fetch.getInputStream().readAllBytes()).strip();
            if (fetch.waitFor() != 0) {
                return Optional.empty();
            }
        }
        SystemFolder system = SystemFolder.create(folder.resolve("system"), toml(), NO_PLUGINS);
        return Optional.of(new Subject("other", Path.of(named), system::around));
    }
}
