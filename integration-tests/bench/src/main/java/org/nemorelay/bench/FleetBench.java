package org.nemorelay.bench;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.nemorelay.backend.ChatMessage;
import org.nemorelay.backend.Methods;
import org.nemorelay.backend.PredictOptions;
import org.nemorelay.carrier.direct.internal.DirectCarrier;
import org.nemorelay.carrier.direct.internal.DirectCarrierConfig;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.dial.BackendClient;

/**
 * What a frontend adds to the first token of a streamed answer: the same backend process, asked through the frontend's HTTP
 * API and by its gRPC directly, in turns within one run.
 */
public final class FleetBench {
    private static final int WARM_UP = 3_000;
    private static final int ROUNDS = 5_000;
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Pattern ADDRESS = Pattern.compile("event=backend_started address=(\\S+)");

    private FleetBench() {}

    /** @param arguments the report's file */
    public static void main(String[] arguments) throws Exception {
        Path folder = Run.begin("nemo-relay-fleet-bench");
        Targets targets = new Targets();
        int nats = freePort();
        int port = freePort();
        Path config = Files.writeString(folder.resolve("fleet.toml"), """
                [distributed]
                carrier = "main"
                [distributed.carriers.main]
                type = "nats"
                servers = ["nats://127.0.0.1:%d"]
                [frontend]
                port = %d
                [[frontend.models]]
                name = "parrot"
                backend = "echo"
                [node]
                frontend = "http://127.0.0.1:%2$d"
                """.formatted(nats, port));
        try (Proc server = Proc.spec()
                        .command("/usr/sbin/nats-server", "-a", "127.0.0.1", "-p", Integer.toString(nats))
                        .start();
                Proc frontend = role(folder, config, "frontend");
                Proc node = role(folder, config, "node")) {
            Await.until(
                    () -> server.transcript() + frontend.transcript() + node.transcript(),
                    LIMIT,
                    () -> through(port) > 0);
            Matcher address = ADDRESS.matcher(node.stderr());
            if (!address.find()) {
                throw new IllegalStateException(node.transcript());
            }
            String report = measure(port, address.group(1), targets);
            System.out.println(report);
            Files.writeString(Path.of(arguments[0]), report);
        }
        System.exit(targets.exitStatus());
    }

    private static Proc role(Path folder, Path config, String role) {
        return Proc.spec()
                .command(Distribution.tree().resolve("bin/nemo-relay").toString(), "--config", config.toString(), role)
                .env("HOME", folder.toString())
                .env("TMPDIR", folder.toString())
                .env("NEMO_RELAY_LOG", "info")
                .start();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static double through(int port) throws IOException {
        try (Way way = new Way(port)) {
            return way.firstToken();
        }
    }

    private static String measure(int port, String address, Targets targets) throws IOException {
        DirectCarrierConfig defaults = (DirectCarrierConfig) Proxy.newProxyInstance(
                FleetBench.class.getClassLoader(),
                new Class<?>[] {DirectCarrierConfig.class},
                (proxy, method, values) -> method.getDefaultValue());
        DirectCarrier carrier = new DirectCarrier(defaults);
        try (BackendClient client = carrier.backendClients().newClient("n", address, true);
                Way way = new Way(port)) {
            double[] direct = new double[ROUNDS];
            double[] through = new double[ROUNDS];
            for (int i = -WARM_UP; i < ROUNDS; i++) {
                double one = direct(client);
                double other = way.firstToken();
                if (i >= 0) {
                    direct[i] = one;
                    through[i] = other;
                }
            }
            return report(direct, through, targets);
        } finally {
            carrier.close();
        }
    }

    private static double direct(BackendClient client) {
        byte[] request = new PredictOptions(
                        "", List.of(ChatMessage.of("user", "a b c")), 0, 0, 0, 0, List.of(), true, "", "", "", "parrot")
                .encode();
        long begun = System.nanoTime();
        try (BackendClient.Call call = client.open(Context.background(), Methods.PREDICT_STREAM)) {
            call.send(request);
            call.halfClose();
            call.next().orElseThrow();
            double micros = (System.nanoTime() - begun) / 1e3;
            while (call.next().isPresent()) {}
            return micros;
        }
    }

    private static String report(double[] direct, double[] through, Targets targets) throws IOException {
        java.util.Arrays.sort(direct);
        java.util.Arrays.sort(through);
        StringBuilder out = new StringBuilder("# Performance of a fleet\n\n");
        out.append("Written by `integration-tests/bench/bench fleet`; do not edit by hand.\n\n");
        out.append("Machine: ").append(Report.machine()).append("\n\n");
        out.append("A streamed chat request to the `echo` backend on one connection: time to the first token, ")
                .append(ROUNDS)
                .append(" of each\nin turns after ")
                .append(WARM_UP)
                .append(".\n\n");
        out.append("| first token, us | the backend's gRPC | through the frontend | added | target |\n")
                .append("|---|---:|---:|---:|---:|\n");
        for (int percent : new int[] {50, 99}) {
            double one = direct[ROUNDS * percent / 100];
            double other = through[ROUNDS * percent / 100];
            String target =
                    percent == 50 ? targets.atMost("added to the first token at p50, us", other - one, 1_000) : "";
            out.append(String.format(
                    Locale.ROOT, "| p%d | %.0f | %.0f | %.0f | %s |%n", percent, one, other, other - one, target));
        }
        return out.toString();
    }

    /** One connection to the frontend. */
    private static final class Way implements AutoCloseable {
        private static final String BODY =
                "{\"model\":\"parrot\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"a b c\"}]}";
        private static final byte[] REQUEST = ("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: "
                        + BODY.length() + "\r\n\r\n" + BODY)
                .getBytes(StandardCharsets.US_ASCII);

        private final Socket socket;
        private final byte[] buffer = new byte[65_536];

        private Way(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) LIMIT.toMillis());
        }

        /** Microseconds. */
        private double firstToken() throws IOException {
            InputStream in = socket.getInputStream();
            StringBuilder text = new StringBuilder();
            long begun = System.nanoTime();
            socket.getOutputStream().write(REQUEST);
            double first = 0;
            while (text.indexOf("\r\n0\r\n\r\n") < 0) {
                int count = in.read(buffer);
                if (count < 0) {
                    throw new IOException("the frontend closed the connection: " + text);
                }
                text.append(new String(buffer, 0, count, StandardCharsets.US_ASCII));
                if (first == 0 && text.indexOf("data: ") >= 0) {
                    first = (System.nanoTime() - begun) / 1e3;
                }
                if (text.indexOf("HTTP/1.1 200") < 0) {
                    throw new IOException("the frontend refused: " + text);
                }
            }
            return first;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
