package org.nemorelay.backend.echo;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Runs the echo backend until standard input ends. Exit status 2 for wrong usage, 1 when the address cannot be bound. */
public final class EchoMain {
    private static final String ADDRESS = "--addr";
    private static final String DELAY = "--token-delay-ms";
    private static final String USAGE = "usage: nemo-relay backend echo --addr HOST:PORT [--token-delay-ms N]";

    private EchoMain() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        Map<String, String> options = options(arguments);
        InetSocketAddress address;
        Duration delay;
        try {
            address = address(options.getOrDefault(ADDRESS, ""));
            delay = Duration.ofMillis(Long.parseUnsignedLong(options.getOrDefault(DELAY, "0")));
            if (!Set.of(ADDRESS, DELAY).containsAll(options.keySet())) {
                throw new IllegalArgumentException(USAGE);
            }
        } catch (IllegalArgumentException e) {
            err.println("error: " + USAGE);
            System.exit(2);
            return;
        }
        String token = System.getenv().getOrDefault("LOCALAI_GRPC_AUTH_TOKEN", "");
        try (GrpcBackendServer _ = GrpcBackendServer.open(address, new EchoBackend(delay), token)) {
            untilEnd(System.in);
        } catch (IOException e) {
            err.println("error: cannot listen at " + options.get(ADDRESS) + ": " + e.getMessage());
            System.exit(1);
        }
        System.exit(0);
    }

    private static Map<String, String> options(String[] arguments) {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i < arguments.length; i += 2) {
            options.put(arguments[i], i + 1 < arguments.length ? arguments[i + 1] : "");
        }
        return options;
    }

    private static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        if (colon <= 0) {
            throw new IllegalArgumentException(USAGE);
        }
        return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    }

    private static void untilEnd(InputStream input) throws IOException {
        byte[] ignored = new byte[256];
        while (input.read(ignored) >= 0) {}
    }
}
