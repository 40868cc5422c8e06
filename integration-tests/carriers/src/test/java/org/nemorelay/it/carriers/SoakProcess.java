package org.nemorelay.it.carriers;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.nemorelay.carriers.Carriers;
import org.nemorelay.it.BundleVersion;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.control.ControlServers;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.Recorder;
import org.osgi.framework.Bundle;
import org.osgi.framework.wiring.BundleWiring;

/**
 * One process of a soak: a framework with the facades, the local carrier and the NATS carrier as a bundle file. Takes commands,
 * one a line, and answers each with one line.
 */
final class SoakProcess {
    private final Path folder;
    private final Path jar;
    private final Host host;
    private final Recorder recorder = new Recorder();
    private final List<WeakReference<ClassLoader>> gone = new ArrayList<>();
    private final Traffic traffic;
    private Bundle nats;
    private int updates;
    private long[] expected = {};

    /** Arguments: folder, bundle file, index, number of processes, carrier, instances as NAME=URL. */
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        SoakProcess process;
        try {
            process = new SoakProcess(arguments);
        } catch (Throwable thrown) {
            thrown.printStackTrace();
            System.exit(1);
            return;
        }
        answers.println("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String answer;
            try {
                answer = process.obey(line.split(" "));
            } catch (Throwable thrown) {
                thrown.printStackTrace();
                answer = "failed " + thrown;
            }
            answers.println(answer);
        }
        System.exit(0);
    }

    private SoakProcess(String[] arguments) throws Exception {
        folder = Path.of(arguments[0]);
        jar = Path.of(arguments[1]);
        host = new Host(folder, recorder);
        nats = host.install(jar);
        host.configure("getConfiguration", "org.nemorelay.distributed", "", Map.of("carrier", arguments[4]));
        for (String instance : Arrays.asList(arguments).subList(5, arguments.length)) {
            String[] parts = instance.split("=");
            host.configure(
                    "getFactoryConfiguration",
                    "org.nemorelay.carrier.nats",
                    parts[0],
                    Map.of("carrier", parts[0], "servers", new String[] {parts[1]}));
        }
        await(
                "current is " + arguments[4],
                () -> carriers().status().current().filter(arguments[4]::equals).isPresent()
                        && carriers().status().present().stream().allMatch(Carriers.Present::connected));
        traffic = new Traffic(
                Integer.parseInt(arguments[2]),
                Integer.parseInt(arguments[3]),
                host.service(Broadcaster.class),
                host.service(WorkQueue.class),
                host.service(WorkConsumer.class),
                host.service(NodeCommandSender.class),
                host.service(ControlServers.class));
    }

    private static void await(String what, BooleanSupplier condition) {
        Await.until(what, condition);
    }

    private Carriers carriers() {
        return host.service(Carriers.class);
    }

    private String obey(String[] words) throws Exception {
        return switch (words[0]) {
            case "warm" -> traffic.warm(Duration.ofSeconds(20)) ? "ok" : "failed: not all hear and answer each other";
            case "go" -> {
                traffic.go(Long.parseLong(words[1]));
                yield "ok";
            }
            case "swap" -> {
                progress();
                carriers().use(words[1], Duration.ofSeconds(30));
                yield "ok";
            }
            case "update" -> {
                progress();
                update(words[1]);
                yield "ok";
            }
            case "replace" -> {
                progress();
                replace();
                yield "ok";
            }
            case "whole" -> traffic.whole(Duration.ofSeconds(10)) ? "ok" : "failed: no full service";
            case "serves" -> {
                progress();
                yield "ok";
            }
            case "stop" -> {
                traffic.stop();
                yield Long.toString(traffic.published());
            }
            case "expect" -> {
                expected =
                        Arrays.stream(words).skip(1).mapToLong(Long::parseLong).toArray();
                traffic.awaitHeard(expected, Duration.ofSeconds(3));
                yield "ok";
            }
            case "jobs" -> {
                Files.write(
                        folder.resolve("accepted"),
                        traffic.accepted().stream().map(Object::toString).toList());
                Files.write(
                        folder.resolve("ran"),
                        traffic.ran().stream().map(Object::toString).toList());
                yield "ok";
            }
            case "counts" -> {
                Files.write(folder.resolve("log"), recorder.lines());
                yield traffic.counts(expected).toString();
            }
            case "end" -> end();
            default -> "failed: unknown command";
        };
    }

    /** Some calls have been answered since the last change. */
    private void progress() {
        long before = traffic.calls();
        await("calls are answered", () -> traffic.calls() > before + 20);
    }

    /** As an administrator does it without a gap: the new version beside the old one, then the old one goes. */
    private void update(String carrier) throws Exception {
        Path next = folder.resolve("nats-" + ++updates + ".jar");
        BundleVersion.write(jar, next, "0.1.0.u" + updates);
        Bundle old = nats;
        nats = host.install(next);
        await(
                "the new one is there beside the old one",
                () -> carriers().status().present().stream()
                                .filter(present -> present.name().equals(carrier) && present.connected())
                                .count()
                        == 2);
        remember(old);
        old.stop();
        old.uninstall();
        host.refresh(old);
        await(
                "current is " + carrier,
                () -> carriers().status().current().filter(carrier::equals).isPresent());
    }

    /** In place: for a moment there is none. */
    private void replace() throws Exception {
        Path next = folder.resolve("nats-" + ++updates + ".jar");
        BundleVersion.write(jar, next, "0.1.0.r" + updates);
        remember(nats);
        try (var in = Files.newInputStream(next)) {
            nats.update(in);
        }
        host.refresh(nats);
        await(
                "connected",
                () -> carriers().status().present().stream().allMatch(Carriers.Present::connected)
                        && carriers().status().current().isPresent());
    }

    private void remember(Bundle bundle) {
        gone.add(new WeakReference<>(bundle.adapt(BundleWiring.class).getClassLoader()));
    }

    /** Stops the framework and says what is left: threads, class loaders of bundles that went, failures of the process. */
    private String end() throws Exception {
        remember(nats);
        Files.write(folder.resolve("log"), recorder.lines());
        host.stop();
        Path dump = folder.resolve("threads");
        long threads = 0;
        for (int i = 0; i < 50; i++) {
            Files.deleteIfExists(dump);
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpThreads(dump.toString(), ThreadDumpFormat.TEXT_PLAIN);
            try (var lines = Files.lines(dump)) {
                threads = lines.filter(line -> line.startsWith("#")
                                && (line.contains("\"nats")
                                        || line.contains("\"carriers-")
                                        || line.contains("\"leaving ")))
                        .count();
            }
            if (threads == 0) {
                break;
            }
            Thread.sleep(100);
        }
        nats = null;
        long loaders = gone.size();
        // The last bundle is held by the framework, which is held by this class.
        for (int i = 0; i < 50 && loaders > 1; i++) {
            System.gc();
            loaders = gone.stream().filter(loader -> loader.get() != null).count();
            Thread.sleep(50);
        }
        return "threads=" + threads + " loaders=" + Math.max(0, loaders - 1) + " failures="
                + recorder.failures().size();
    }
}
