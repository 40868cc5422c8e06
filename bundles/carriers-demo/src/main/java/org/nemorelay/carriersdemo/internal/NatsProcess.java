package org.nemorelay.carriersdemo.internal;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A NATS server of one's own, on loopback, for the time of a demo. */
final class NatsProcess implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(10);

    private static final String PATH = "/usr/local/bin:/usr/bin";

    private final Process process;
    private final int port;
    /** A demo that is interrupted leaves no server. */
    private final Thread atExit;

    private NatsProcess(Process process, int port) {
        this.process = process;
        this.port = port;
        this.atExit = new Thread(process::destroyForcibly, "nats-server-end");
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** Empty where there is no such program, or it does not come up. */
    static Optional<NatsProcess> start(Map<String, String> environment) throws InterruptedException {
        Optional<Path> program = program(environment);
        if (program.isEmpty()) {
            return Optional.empty();
        }
        try {
            int port = freePort();
            Process process = new ProcessBuilder(
                            program.get().toString(), "-a", "127.0.0.1", "-p", Integer.toString(port))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            NatsProcess nats = new NatsProcess(process, port);
            long end = System.nanoTime() + START.toNanos();
            while (System.nanoTime() - end < 0 && process.isAlive()) {
                if (nats.answers()) {
                    return Optional.of(nats);
                }
                Thread.sleep(20);
            }
            nats.close();
        } catch (IOException e) {
            // As good as not installed.
        }
        return Optional.empty();
    }

    private static Optional<Path> program(Map<String, String> environment) {
        return Arrays.stream(environment.getOrDefault("PATH", PATH).split(File.pathSeparator))
                .filter(folder -> folder.startsWith("/"))
                .map(Path::of)
                // A server's program is often beside those of users.
                .flatMap(folder -> Stream.of(folder, folder.resolveSibling("sbin")))
                .map(folder -> folder.resolve("nats-server"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private boolean answers() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    String url() {
        return "nats://127.0.0.1:" + port;
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IllegalStateException e) {
            // The process is ending: the hook has run or will.
        }
    }
}
