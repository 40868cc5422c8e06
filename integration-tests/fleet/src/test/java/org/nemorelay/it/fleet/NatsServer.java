package org.nemorelay.it.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.nemorelay.it.Await;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Requirement;

/** A server on a port from the operating system, which it has again after a restart. */
final class NatsServer implements AutoCloseable {
    private static final List<String> FOLDERS = List.of("/usr/sbin", "/usr/local/bin", "/usr/bin");

    private final int port;
    private Proc process;

    NatsServer() {
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start();
    }

    void start() {
        Optional<String> program = FOLDERS.stream()
                .map(folder -> folder + "/nats-server")
                .filter(file -> Files.isExecutable(Path.of(file)))
                .findFirst();
        Requirement.of(program.isPresent(), "needs nats-server; install Debian's package of that name");
        process = Proc.spec()
                .command(program.orElseThrow(), "-a", "127.0.0.1", "-p", Integer.toString(port))
                .start();
        Await.until("the NATS server listens", Duration.ofSeconds(20), () -> {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                return socket.isConnected();
            }
        });
    }

    int port() {
        return port;
    }

    String url() {
        return "nats://127.0.0.1:" + port;
    }

    void kill() {
        process.close();
    }

    @Override
    public void close() {
        process.close();
    }
}
