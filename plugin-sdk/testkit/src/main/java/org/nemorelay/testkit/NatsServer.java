package org.nemorelay.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/**
 * A real {@code nats-server} on a free port of the loopback, for tests. Where there is none a test is skipped, except under
 * {@code CI}, where it fails: a runner without the server must not hide what is not tested.
 */
public final class NatsServer implements AutoCloseable {
    private static final Pattern PORT =
            Pattern.compile("\"(nats|cluster)\":\\[\"(?:nats|tls)://127\\.0\\.0\\.1:(\\d+)\"");

    private final Path folder;
    private String settings;
    private final Optional<String> routes;
    private int port = -1;
    private int clusterPort = -1;
    private Process process;

    private NatsServer(String settings, Optional<String> routes) {
        this.settings = settings;
        this.routes = routes;
        try {
            this.folder = Files.createTempDirectory("nats-server-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A server without anything special. */
    public static NatsServer start() {
        return start("");
    }

    /** A server with these further lines in its configuration, such as {@code max_payload: 4096}. */
    public static NatsServer start(String settings) {
        requireInstalled();
        NatsServer server = new NatsServer(settings, Optional.empty());
        server.launch();
        return server;
    }

    /** Two servers of one cluster. */
    public static List<NatsServer> cluster() {
        requireInstalled();
        NatsServer one = new NatsServer("", Optional.of(""));
        one.launch();
        NatsServer two = new NatsServer("", Optional.of("nats-route://127.0.0.1:" + one.clusterPort));
        two.launch();
        return List.of(one, two);
    }

    /** Where it lies; empty when it is not installed. */
    public static Optional<Path> executable() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("") + ":/usr/sbin:/usr/local/bin";
        return Stream.of(path.split(":"))
                .filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry, "nats-server"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Skips the test, or fails it under {@code CI}, when there is no server. */
    public static void requireInstalled() {
        if (executable().isPresent()) {
            return;
        }
        String missing = "nats-server is not installed (Debian: nats-server)";
        if (System.getenv("CI") != null) {
            throw new AssertionError(missing);
        }
        throw new TestAbortedException(missing);
    }

    private void launch() {
        try {
            Path configuration = folder.resolve("nats.conf");
            String cluster = routes.map(other -> "cluster { name: test, listen: \"127.0.0.1:" + clusterPort
                            + "\", routes: [" + (other.isEmpty() ? "" : "\"" + other + "\"") + "] }\n")
                    .orElse("");
            Files.writeString(
                    configuration,
                    "listen: \"127.0.0.1:" + port + "\"\nports_file_dir: \"" + folder + "\"\n" + cluster + settings
                            + "\n");
            process = new ProcessBuilder(executable().orElseThrow().toString(), "-c", configuration.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(
                            folder.resolve("log").toFile()))
                    .start();
            Path ports = folder.resolve("nats-server_" + process.pid() + ".ports");
            Await.until("nats-server is up: " + configuration, () -> !process.isAlive() || known(ports));
            if (!process.isAlive()) {
                throw new AssertionError("nats-server ended: " + log());
            }
            Await.until("nats-server listens", this::listens);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean known(Path ports) {
        try {
            Matcher found = PORT.matcher(Files.exists(ports) ? Files.readString(ports) : "");
            while (found.find()) {
                if (found.group(1).equals("nats")) {
                    port = Integer.parseInt(found.group(2));
                } else {
                    clusterPort = Integer.parseInt(found.group(2));
                }
            }
            return port > 0 && (routes.isEmpty() || clusterPort > 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean listens() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.getInputStream().read() == 'I';
        } catch (IOException e) {
            return false;
        }
    }

    public int port() {
        return port;
    }

    /** The address for clients, without credentials. */
    public String url() {
        return "nats://127.0.0.1:" + port;
    }

    /** How many clients are connected, as the kernel sees it. */
    public long connections() {
        String local = String.format(":%04X", port);
        try (Stream<String> lines = Files.lines(Path.of("/proc/net/tcp"))) {
            return lines.map(line -> line.strip().split("\\s+"))
                    .filter(columns -> columns[1].endsWith(local) && columns[3].equals("01"))
                    .count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String log() {
        try {
            return Files.readString(folder.resolve("log"), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends it without notice. */
    public void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Starts it again where it was. */
    public void restart() {
        launch();
    }

    /** Starts it again where it was, with other settings. */
    public void restart(String others) {
        settings = others;
        launch();
    }

    /** Stops it in its tracks: connections stay, nothing moves. */
    public void pause() {
        signal("STOP");
    }

    public void resume() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        kill();
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
