package org.nemorelay.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

/** Measures and writes the report to the file that the only argument names. */
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
        Path folder = Files.createTempDirectory("nemo-relay-bench");
        try (MockProvider provider = new MockProvider();
                LeanProvider lean = new LeanProvider()) {
            String report = new Main(folder, provider, lean).measure();
            Files.writeString(Path.of(arguments[0]), report);
            System.out.println(report);
        } finally {
            new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor();
        }
    }

    private String measure() throws IOException, InterruptedException {
        Path tree = Distribution.privateTree(folder.resolve("tree"), toml(), NO_PLUGINS);
        Subject ours = new Subject("ours", tree.resolve("bin/nemo-relay"), UnaryOperator.identity());
        Optional<Subject> other = other();
        double nothing = Samples.take(2, 11, StartBench::nothing).median();
        Report.Figures figures = new Report.Figures(nothing, start(ours), new LinkedHashMap<>(), new LinkedHashMap<>());
        figures.ways().put("direct", RequestBench.run(lean.port(), "", List.of()));
        requests(ours, figures.ways());
        if (other.isPresent()) {
            figures.other().putAll(start(other.get()));
            requests(other.get(), figures.ways());
        }
        return Report.markdown(figures);
    }

    private Map<String, Double> start(Subject subject) {
        return new StartBench(subject, user(subject), provider).run();
    }

    private void requests(Subject subject, Map<String, Map<String, Double>> ways) {
        User user = user(subject);
        Proc.Spec environment = Proc.spec()
                .env("NEMO_RELAY_ANTHROPIC_BASE_URL", lean.origin())
                .env("NEMO_RELAY_OPENAI_BASE_URL", lean.origin() + "/v1");
        try (Relay relay = Relay.start(user, subject.executable(), environment)) {
            long daemon = relay.process().pid();
            ways.put(subject.name() + ", pass-through", RequestBench.run(relay.port(), "", List.of(daemon)));
            Proc.Spec mcp = user.withToken(
                    subject.executable().toString(), "daemon", "mcp", "--daemon-address", relay.address());
            try (McpSession session = McpSession.start(subject.around().apply(mcp))) {
                session.initialize();
                relay.awaitReadyWorker();
                long worker = StartBench.worker(relay);
                ways.put(
                        subject.name() + ", through the worker",
                        RequestBench.run(relay.port(), user.header() + "\r\n", List.of(daemon, worker)));
                session.end();
            }
        }
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
