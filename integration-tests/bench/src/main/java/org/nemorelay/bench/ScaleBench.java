package org.nemorelay.bench;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.nemorelay.bench.ControlPeer.Identity;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.protocol.control.Role;

/**
 * One daemon with very many users, whose MCP sessions and workers are simulated here: what a session costs, how many register
 * in a second, how soon a restarted daemon routes again, and what a request costs among many routes. Arguments: the
 * executable, the report's file; after them, parts to measure alone, which are only printed.
 */
public final class ScaleBench {
    private static final int ROUTES = 4_096;
    private static final int SESSIONS = 8_192;
    private static final int RECOVERABLE = 1_000;
    private static final int ADDRESSES = 64;
    private static final int REGISTERING = 32;
    private static final Duration REGISTRATION = Duration.ofSeconds(10);
    private static final Duration WARM_UP = Duration.ofSeconds(12);
    private static final int WARM_UP_ROUNDS = 10;
    private static final int REQUESTS = 4_000;
    private static final int TURNS = 20;
    private static final int TURN = 400;
    private static final int GROUPS = 3;
    /** How many times the cost beside one route a flat one may be: what differs by chance is less. */
    private static final double FLAT = 1.1;

    private static final List<String> PARTS = List.of("sessions", "registrations", "restart", "requests");

    private final Path folder;
    private final Path executable;
    private final AtomicInteger address = new AtomicInteger();
    private final Map<String, String[]> rows = new LinkedHashMap<>();
    private final Targets targets = new Targets();

    private ScaleBench(Path folder, Path executable) {
        this.folder = folder;
        this.executable = executable;
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Run.begin("nemo-relay-scale");
        List<String> only = List.of(arguments).subList(2, arguments.length);
        ScaleBench bench = new ScaleBench(folder, Path.of(arguments[0]));
        String report = bench.run(only.isEmpty() ? PARTS : only);
        if (only.isEmpty()) {
            Files.writeString(Path.of(arguments[1]), report);
        }
        System.out.println(report);
        System.exit(bench.targets.exitStatus());
    }

    private String run(List<String> parts) throws Exception {
        for (String part : parts) {
            switch (part) {
                case "sessions" -> sessions();
                case "registrations" -> registrations();
                case "restart" -> restart();
                case "requests" -> requests();
                default -> throw new IllegalArgumentException(part + " is none of " + PARTS);
            }
        }
        StringBuilder out =
                new StringBuilder("""
                # Scale

                Written by `integration-tests/bench/scale`; do not edit by hand. One daemon of the built distribution with
                the flags of its start script. Sessions and workers are simulated by one process on the same machine, from
                %d loopback addresses: each signs what a real one signs (with Bouncy Castle's Ed25519, as the daemon does)
                and does not check what the daemon signed, so that the processors are the daemon's.

                A registration is a connection, its upgrade, a challenge, a proof and a network hint, the first directive and
                its acknowledgement, and the release: the daemon makes two signatures and checks two. The restarted daemon
                was killed; a worker counts as routed when a request of its user was answered by it.

                For the last rows two daemons, one with a single route, run at once and take turns of %d requests, from one
                connection each, after %,d to either; %d rounds, and %d such pairs of daemons. Compared are turns of the same
                round; the figure is the median of a pair of daemons' ratios, and of the pairs the median, in parentheses the
                interval of 95 %% by bootstrap. One user's requests show what the number of routes costs; those of 4,096 users in
                turn what it costs besides that their records have gone cold.

                | figure | measured | target |
                |---|---:|---:|
                """.formatted(ADDRESSES, TURN, 2 * REQUESTS * WARM_UP_ROUNDS, TURNS, GROUPS));
        rows.forEach((name, row) -> out.append("| %s | %s | %s |%n".formatted(name, row[0], row[1])));
        out.append("\nMachine: ")
                .append(Runtime.getRuntime().availableProcessors())
                .append(" cores, Java ");
        return out.append(Runtime.version()).append(".\n").toString();
    }

    private void atMost(String name, double value, double limit) {
        row(name, value, targets.atMost(name, value, limit));
    }

    private void atLeast(String name, double value, double limit) {
        row(name, value, targets.atLeast(name, value, limit));
    }

    private void row(String name, double value, String target) {
        String text = String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%,.0f", value);
        rows.put(name, new String[] {text, target});
        System.err.println(name + ": " + text + " (" + target + ")");
    }

    private Relay daemon(int port, String home) {
        User user = User.self(folder.resolve(home));
        return Relay.start(port, user, executable, Proc.spec());
    }

    private String from() {
        return "127.0." + (1 + address.getAndIncrement() % ADDRESSES) + ".1";
    }

    private static List<Identity> identities(int count) {
        List<Identity> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(Identity.create());
        }
        return all;
    }

    // ---- idle sessions

    private void sessions() throws Exception {
        List<ControlPeer> peers = new ArrayList<>();
        int port = Relay.freePort();
        try (Relay relay = daemon(port, "sessions")) {
            long pid = relay.process().pid();
            warm(port);
            long before = liveBytes(pid);
            List<Identity> users = identities(ROUTES);
            try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
                List<Future<ControlPeer>> registered = new ArrayList<>();
                for (int i = 0; i < SESSIONS; i++) {
                    Identity user = users.get(i % ROUTES);
                    registered.add(threads.submit(() -> {
                        ControlPeer peer = new ControlPeer(port, user, Role.MCP);
                        peer.registerMcp(from());
                        return peer;
                    }));
                }
                for (Future<ControlPeer> each : registered) {
                    peers.add(each.get());
                }
            }
            Thread.sleep(6_000); // acknowledgements are checked after five seconds
            long after = liveBytes(pid);
            atLeast("idle MCP sessions on %,d routes".formatted(ROUTES), peers.size(), SESSIONS);
            atMost("heap for each session, KiB", (after - before) / 1024.0 / SESSIONS, 24);
            row("resident memory of the daemon, MB", Memory.resident(pid), "");
        } finally {
            peers.forEach(ControlPeer::close);
        }
    }

    private void warm(int port) throws IOException {
        for (int i = 0; i < 20; i++) {
            try (ControlPeer peer = new ControlPeer(port, Identity.create(), Role.MCP)) {
                peer.registerMcp(from());
                peer.release();
            }
        }
    }

    /** Bytes of live objects after a full collection. */
    private static long liveBytes(long pid) throws IOException, InterruptedException {
        Path java = Path.of(ProcessHandle.current().info().command().orElseThrow());
        Process histogram = new ProcessBuilder(
                        java.resolveSibling("jcmd").toString(), Long.toString(pid), "GC.class_histogram")
                .redirectErrorStream(true)
                .start();
        String text = new String(histogram.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        histogram.waitFor();
        for (String line : text.lines().toList()) {
            if (line.startsWith("Total")) {
                return Long.parseLong(line.trim().split(" +")[2]);
            }
        }
        throw new IOException("no histogram: " + text);
    }

    // ---- registrations

    private void registrations() throws Exception {
        int port = Relay.freePort();
        try (Relay relay = daemon(port, "registrations")) {
            List<Identity> users = identities(REGISTERING);
            register(port, users, WARM_UP);
            double cpu = cpuMillis(relay.process().pid());
            double own = cpuMillis(ProcessHandle.current().pid());
            long start = System.nanoTime();
            int count = register(port, users, REGISTRATION);
            double seconds = (System.nanoTime() - start) / 1e9;
            atLeast("registrations/s, each with two signatures checked", count / seconds, 500);
            row("CPU of the daemon for each, ms", (cpuMillis(relay.process().pid()) - cpu) / (double) count, "");
            row(
                    "CPU of those who register for each, ms",
                    (cpuMillis(ProcessHandle.current().pid()) - own) / (double) count,
                    "");
        }
    }

    private int register(int port, List<Identity> users, Duration time) throws Exception {
        long end = System.nanoTime() + time.toNanos();
        AtomicInteger count = new AtomicInteger();
        try (ExecutorService threads = Executors.newFixedThreadPool(users.size())) {
            List<Future<Object>> all = new ArrayList<>();
            for (Identity user : users) {
                all.add(threads.submit(() -> {
                    while (System.nanoTime() < end) {
                        try (ControlPeer peer = new ControlPeer(port, user, Role.MCP)) {
                            peer.registerMcp(from());
                            count.incrementAndGet();
                            peer.release();
                        }
                    }
                    return null;
                }));
            }
            for (Future<Object> each : all) {
                each.get();
            }
        }
        return count.get();
    }

    private static double cpuMillis(long pid) throws IOException {
        String[] stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"))
                .replaceFirst("^.*\\) ", "")
                .split(" ");
        return (Long.parseLong(stat[11]) + Long.parseLong(stat[12])) * 10.0;
    }

    // ---- a restart

    /** A user whose session and worker are simulated. */
    private static final class Pair {
        final Identity user;
        final ControlPeer mcp;
        final ControlPeer worker;

        Pair(int port, Identity user) {
            this.user = user;
            this.mcp = new ControlPeer(port, user, Role.MCP);
            this.worker = new ControlPeer(port, user, Role.WORKER);
        }

        void close() {
            mcp.close();
            worker.close();
        }
    }

    private Pair launched(int port, Identity user, String endpoint, ExecutorService listeners) throws IOException {
        Pair pair = new Pair(port, user);
        pair.mcp.registerMcp(from());
        pair.worker.registerWorker(from(), endpoint, pair.mcp.launch.orElseThrow());
        pair.worker.ready();
        listen(pair, listeners);
        return pair;
    }

    private static void listen(Pair pair, ExecutorService listeners) {
        listeners.execute(pair.mcp::listen);
        listeners.execute(pair.worker::listen);
    }

    private List<Pair> launched(int port, List<Identity> users, String endpoint, ExecutorService listeners)
            throws Exception {
        List<Pair> pairs = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Future<Pair>> all = new ArrayList<>();
            for (Identity user : users) {
                all.add(threads.submit(() -> launched(port, user, endpoint, listeners)));
            }
            for (Future<Pair> each : all) {
                pairs.add(each.get());
            }
        }
        return pairs;
    }

    private void restart() throws Exception {
        int port = Relay.freePort();
        HttpServer data = data();
        String endpoint = "http://127.0.0.1:" + data.getAddress().getPort();
        List<Pair> pairs;
        ExecutorService listeners = Executors.newVirtualThreadPerTaskExecutor();
        try {
            try (Relay relay = daemon(port, "restart")) {
                pairs = launched(port, identities(RECOVERABLE), endpoint, listeners);
                relay.process().signal("KILL");
                relay.process().awaitExit(Duration.ofSeconds(10));
            }
            try (ExecutorService threads = Executors.newFixedThreadPool(32)) {
                List<Future<Long>> routed = new ArrayList<>();
                Proc daemon = User.self(folder.resolve("restart"))
                        .spec(executable.toString(), "daemon", "--port", Integer.toString(port))
                        .start();
                try {
                    long open = opened(port);
                    for (Pair pair : pairs) {
                        routed.add(threads.submit(() -> recover(port, pair, endpoint, listeners)));
                    }
                    long last = open;
                    for (Future<Long> each : routed) {
                        last = Math.max(last, each.get());
                    }
                    atMost(
                            "restart with %,d recoverable workers: all routed after, s".formatted(RECOVERABLE),
                            (last - open) / 1e9,
                            5);
                    row("CPU of the daemon from its start until then, s", cpuMillis(daemon.pid()) / 1_000, "");
                } finally {
                    daemon.signal("KILL");
                    daemon.close();
                }
            }
            pairs.forEach(Pair::close);
        } finally {
            listeners.shutdownNow();
            data.stop(0);
        }
    }

    /** When the port first took a connection, in {@link System#nanoTime()}. */
    private static long opened(int port) throws InterruptedException {
        while (true) {
            try {
                new Socket("127.0.0.1", port).close();
                return System.nanoTime();
            } catch (IOException e) {
                Thread.sleep(2);
            }
        }
    }

    /** Comes back as real ones do, and tells when a request of this user met its worker. */
    private long recover(int port, Pair pair, String endpoint, ExecutorService listeners) throws IOException {
        pair.mcp.registerMcp(from());
        pair.worker.recoverWorker(from(), endpoint);
        pair.worker.ready();
        listen(pair, listeners);
        try (Requests requests = new Requests(port)) {
            if (!requests.exchange(Requests.request(pair.user)).equals("worker")) {
                throw new IOException("a recovered worker got no request");
            }
        }
        return System.nanoTime();
    }

    /** The data plane of every worker. */
    private static HttpServer data() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_024);
        server.setExecutor(
                Executors.newFixedThreadPool(8, Thread.ofPlatform().daemon().factory()));
        byte[] answer = "worker".getBytes(StandardCharsets.US_ASCII);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            if (exchange.getRequestMethod().equals("GET")) {
                exchange.sendResponseHeaders(204, -1);
            } else {
                exchange.sendResponseHeaders(200, answer.length);
                exchange.getResponseBody().write(answer);
            }
            exchange.close();
        });
        server.start();
        return server;
    }

    // ---- requests among many routes

    /**
     * Two daemons at once, which take turns: what the machine does in a minute, it does to both. Each group has daemons of its
     * own, since how the compiler happened to translate one makes all its turns differ alike.
     */
    private void requests() throws Exception {
        List<Rounds> groups = new ArrayList<>();
        HttpServer data = data();
        ExecutorService listeners = Executors.newVirtualThreadPerTaskExecutor();
        try {
            while (groups.size() < GROUPS) {
                groups.add(group(
                        groups.size(), "http://127.0.0.1:" + data.getAddress().getPort(), listeners));
            }
        } finally {
            listeners.shutdownNow();
            data.stop(0);
        }
        row("request at p50, 1 route, us", middle(groups, rounds -> rounds.one, Turn::median), "");
        flat(
                "request at p50, one user among %,d routes, times that".formatted(ROUTES),
                groups,
                r -> r.same,
                Turn::median);
        flat("request at p50, %,d users in turn, times that".formatted(ROUTES), groups, r -> r.many, Turn::median);
        flat("the same by chance: 1 route, times itself a turn later", groups, r -> r.again, Turn::median);
        row("CPU of the daemon for each request, 1 route, us", middle(groups, rounds -> rounds.one, Turn::cpu), "");
        flat("CPU for each, one user among %,d routes, times that".formatted(ROUTES), groups, r -> r.same, Turn::cpu);
        flat("CPU for each, %,d users in turn, times that".formatted(ROUTES), groups, r -> r.many, Turn::cpu);
        flat("the same by chance: 1 route, times itself a turn later (CPU)", groups, r -> r.again, Turn::cpu);
    }

    /**
     * What a turn of requests came to.
     *
     * @param median microseconds
     * @param cpu microseconds of the daemon for each request, the compiler's and the collector's left out
     */
    private record Turn(double median, double cpu) {}

    /** The turns of one pair of daemons, those of the same index neighbours in time. */
    private record Rounds(List<Turn> one, List<Turn> same, List<Turn> many, List<Turn> again) {}

    private Rounds group(int number, String endpoint, ExecutorService listeners) throws Exception {
        int lonely = Relay.freePort();
        try (Relay first = daemon(lonely, "one route " + number)) {
            int crowded = Relay.freePort();
            try (Relay second = daemon(crowded, "many routes " + number);
                    Cost one = new Cost(lonely, first, launched(lonely, identities(1), endpoint, listeners));
                    Cost many = new Cost(crowded, second, launched(crowded, identities(ROUTES), endpoint, listeners));
                    Cost same = new Cost(crowded, second, many.pairs.subList(0, 1))) {
                for (int round = 0; round < WARM_UP_ROUNDS; round++) {
                    // As many requests to either daemon.
                    one.turn(2 * REQUESTS);
                    many.turn(REQUESTS);
                    same.turn(REQUESTS);
                }
                Rounds rounds = new Rounds(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
                for (int turn = 0; turn < TURNS; turn++) {
                    boolean forward = turn % 2 == 0;
                    rounds.one.add(one.turn(TURN));
                    (forward ? rounds.same : rounds.many).add((forward ? same : many).turn(TURN));
                    (forward ? rounds.many : rounds.same).add((forward ? many : same).turn(TURN));
                    rounds.again.add(one.turn(TURN));
                }
                return rounds;
            }
        }
    }

    private static double middle(
            List<Rounds> groups, Function<Rounds, List<Turn>> turns, ToDoubleFunction<Turn> figure) {
        return Ratio.median(groups.stream()
                .mapToDouble(rounds -> Ratio.median(
                        turns.apply(rounds).stream().mapToDouble(figure).toArray()))
                .toArray());
    }

    /** Beside one route, in pairs of neighbours; flat is a middle of at most 1.1. */
    private void flat(
            String name, List<Rounds> groups, Function<Rounds, List<Turn>> turns, ToDoubleFunction<Turn> figure) {
        Ratio ratio = Ratio.of(groups.stream()
                .map(rounds -> IntStream.range(0, TURNS)
                        .mapToObj(i -> new Ratio.Pair(
                                figure.applyAsDouble(rounds.one.get(i)),
                                figure.applyAsDouble(turns.apply(rounds).get(i))))
                        .toList())
                .toList());
        rows.put(name, new String[] {
            ratio.times(), name.contains("by chance") ? "" : targets.atMost(name, ratio.value(), FLAT)
        });
        System.err.println(name + ": " + ratio.times());
    }

    /** Requests to a daemon one after another; the users take turns. */
    private static final class Cost implements AutoCloseable {
        private final long pid;
        private final List<Pair> pairs;
        private final Requests requests;
        private int next;

        Cost(int port, Relay relay, List<Pair> pairs) throws IOException {
            this.pid = relay.process().pid();
            this.pairs = pairs;
            this.requests = new Requests(port);
        }

        Turn turn(int count) throws IOException {
            double[] times = new double[count];
            ThreadTimes before = ThreadTimes.of(pid);
            for (int i = 0; i < count; i++) {
                byte[] request = Requests.request(pairs.get((int) (next++ * 7_919L % pairs.size())).user);
                long start = System.nanoTime();
                requests.exchange(request);
                times[i] = (System.nanoTime() - start) / 1e3;
            }
            double cpu = ThreadTimes.of(pid)
                    .microsSince(before, name -> !name.contains("Compiler") && !name.startsWith("VM Thread"));
            return new Turn(Ratio.median(times), cpu / count);
        }

        @Override
        public void close() {
            requests.close();
            pairs.forEach(Pair::close);
        }
    }

    /** One connection for requests one after another. */
    private static final class Requests implements AutoCloseable {
        private final Socket socket;
        private final java.io.DataInputStream in;

        Requests(int port) throws IOException {
            socket = new Socket("127.0.0.1", port);
            socket.setTcpNoDelay(true);
            in = new java.io.DataInputStream(new java.io.BufferedInputStream(socket.getInputStream()));
        }

        static byte[] request(Identity user) {
            return ("POST /v1/messages HTTP/1.1\r\nhost: relay\r\nx-nemo-relay-client-token: "
                            + user.token().text() + "\r\ncontent-length: 2\r\n\r\n{}")
                    .getBytes(StandardCharsets.US_ASCII);
        }

        String exchange(byte[] request) throws IOException {
            socket.getOutputStream().write(request);
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                head.append((char) in.readUnsignedByte());
            }
            String text = head.toString().toLowerCase(Locale.ROOT);
            int at = text.indexOf("content-length: ") + 16;
            int length = Integer.parseInt(text.substring(at, text.indexOf("\r\n", at)));
            return new String(in.readNBytes(length), StandardCharsets.US_ASCII);
        }

        @Override
        public void close() {
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
