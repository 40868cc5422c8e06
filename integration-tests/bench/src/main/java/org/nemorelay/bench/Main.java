package org.nemorelay.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** Measures and writes the report to the file that the only argument names. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("nemo-relay-bench");
        try (MockProvider provider = new MockProvider()) {
            Path tree = Distribution.privateTree(folder.resolve("tree"), Relay.upstreamToml(provider), "version = 1\n");
            Map<String, Double> ours = figures(new Subject("ours", tree.resolve("bin/nemo-relay")), folder, provider);
            double nothing = Samples.take(2, 11, StartBench::nothing).median();
            Map<String, Double> others = new LinkedHashMap<>();
            Optional<Path> other = other();
            if (other.isPresent()) {
                others.putAll(figures(new Subject("other", other.get()), folder, provider));
            }
            String report = Report.markdown(ours, others, nothing);
            Files.writeString(Path.of(arguments[0]), report);
            System.out.println(report);
        } finally {
            new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor();
        }
    }

    private static Map<String, Double> figures(Subject subject, Path folder, MockProvider provider) {
        User user = User.self(folder.resolve("home-" + subject.name()));
        return new StartBench(subject, user, provider).run();
    }

    private static Optional<Path> other() throws IOException, InterruptedException {
        String named = System.getenv("NEMO_RELAY_BENCH_OTHER");
        if (named != null) {
            return Optional.of(Path.of(named));
        }
        Process fetch = new ProcessBuilder(System.getProperty("nemorelay.tools") + "/fetch", "stock")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String path = new String(fetch.getInputStream().readAllBytes()).strip();
        return fetch.waitFor() == 0 ? Optional.of(Path.of(path)) : Optional.empty();
    }
}
