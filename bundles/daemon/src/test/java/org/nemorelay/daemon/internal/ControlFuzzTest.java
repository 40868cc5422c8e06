package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tag;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.TimeScale;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.FrameException;

/**
 * Every control frame, bent in every way: the daemon answers with a documented status or closes the connection, never
 * anything else, and nothing is left of it.
 */
class ControlFuzzTest {
    private static final Set<Integer> DOCUMENTED = Set.of(200, 204, 400, 401, 404, 409, 426, 429, 502);
    private static final int ANSWER_MS = 10_000;
    private static final int PENDING_CHALLENGES = 384;
    /**
     * What may stay on the heap however many frames came: some 15 MB of full tables (4,096 routes, sessions in their grace),
     * and as much again of what a collection leaves where it is. From the tenth thousand frame to the ninetieth it stays.
     */
    private static final long HEAP_LIMIT = 32L << 20;

    private static TestDaemon daemon;
    private static FakeServer data;
    private static FuzzPeer peer;
    private static long heapBefore;
    private static Map<String, Long> descriptorsBefore;

    /** How a value in a frame is changed. */
    enum Bend {
        REMOVE,
        REPLACE,
        REPEAT,
        RENAME
    }

    /** One change: of the node with that number, in the order of the text. */
    record Edit(int node, Bend bend, String token) {}

    /** A frame of that kind, changed; then cut or joined as text. */
    record Shape(FuzzPeer.Kind kind, List<Edit> edits, int cut, String tail) {}

    /** A frame below JSON. */
    record Bytes(boolean worker, int opcode, boolean fin, byte[] payload) {}

    @BeforeContainer
    static void start() throws IOException {
        data = new FakeServer("worker");
        daemon = new TestDaemon();
        daemon.environment.put(TimeScale.VARIABLE, "1000");
        daemon.start();
        peer = new FuzzPeer(daemon, data.url());
        // What is made once and kept, such as classes and thread pools, is there before the count begins.
        TestDaemon.await("as many challenges as there may be", ControlFuzzTest::allChallengesAreFree);
        descriptorsBefore = descriptors();
        heapBefore = heap();
    }

    /**
     * After all of it the daemon serves, no control task has failed, every challenge was given back, and neither heap nor
     * descriptors have grown with the frames.
     */
    @AfterContainer
    static void stop() throws IOException {
        try {
            peer.close();
            TestDaemon.await("sockets and challenges are gone", ControlFuzzTest::allChallengesAreFree);
            assertEquals(
                    200, RawHttp.once(daemon.port(), RawHttp.get("/healthz")).status());
            assertNothingFailed();
            TestDaemon.await(
                    () -> "connections are closed of " + descriptors() + ", before there were " + descriptorsBefore,
                    ControlFuzzTest::closedWhatWasOpened);
            // What the last sockets held goes on threads of its own, which a busy machine lets wait.
            TestDaemon.await(() -> "the heap has grown by " + grown() + " bytes", () -> grown() < HEAP_LIMIT);
            System.out.printf("control frames fuzzed: heap %+d KiB after collection%n", grown() >> 10);
        } finally {
            daemon.close();
            data.close();
        }
    }

    /** The log so far, which the test keeps in memory, is looked at and let go. */
    private static void assertNothingFailed() {
        assertEquals(
                List.of(),
                daemon.events.stream()
                        .filter(event -> event.startsWith("worker_maintenance_failed"))
                        .toList());
        daemon.events.clear();
    }

    /** What this process holds open, by kind. */
    private static Map<String, Long> descriptors() {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.map(ControlFuzzTest::kind)
                    .filter(kind -> !kind.endsWith(".jar"))
                    .collect(Collectors.groupingBy(kind -> kind, TreeMap::new, Collectors.counting()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String kind(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().replaceAll(":?\\[\\d+]", "");
        } catch (IOException closedMeanwhile) {
            return "closed";
        }
    }

    /** All kinds are back at the count of before, but for the pooled connection to the worker that was probed: both its ends. */
    private static boolean closedWhatWasOpened() {
        return descriptors().entrySet().stream()
                .allMatch(now -> now.getValue()
                        <= descriptorsBefore.getOrDefault(now.getKey(), 0L)
                                + (now.getKey().equals("socket") ? 2 : 0));
    }

    private static long grown() {
        return heap() - heapBefore;
    }

    /** What is in use after collection; the least of several counts, as what ends does so on threads of its own. */
    private static long heap() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    private static boolean allChallengesAreFree() {
        List<RawControl> sockets = new ArrayList<>();
        try {
            for (int i = 0; i <= PENDING_CHALLENGES; i++) {
                RawControl socket = peer.open(false);
                sockets.add(socket);
                socket.send(peer.challenge(false));
                int status = Json.parseObject(socket.reply(ANSWER_MS).text())
                                        .values()
                                        .get("status")
                                instanceof Number number
                        ? number.intValue()
                        : 0;
                if (status != (i < PENDING_CHALLENGES ? 200 : 429)) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            throw new AssertionError(e);
        } finally {
            sockets.forEach(RawControl::close);
        }
    }

    @Property(tries = 4_400, shrinking = ShrinkingMode.OFF)
    void shapes(@ForAll("shapes") Shape shape) throws IOException {
        send(shape);
    }

    @Property(tries = 600, shrinking = ShrinkingMode.OFF)
    void bytes(@ForAll("bytes") Bytes bytes) throws IOException {
        send(bytes);
    }

    @Property(tries = 90_000, shrinking = ShrinkingMode.OFF)
    @Tag("long")
    void veryManyShapes(@ForAll("shapes") Shape shape) throws IOException {
        send(shape);
    }

    @Property(tries = 10_000, shrinking = ShrinkingMode.OFF)
    @Tag("long")
    void veryManyBytes(@ForAll("bytes") Bytes bytes) throws IOException {
        send(bytes);
    }

    @Provide
    Arbitrary<Shape> shapes() {
        Arbitrary<String> tokens = Arbitraries.of(
                "null",
                "true",
                "-1",
                "0",
                "1",
                "65536",
                "9223372036854775808",
                "18446744073709551615",
                "18446744073709551616",
                "1e400",
                "1e46744073709551615",
                "0.5",
                "\"\"",
                "\"x\"",
                "\"\\u0000\"",
                "\"\\ud800\"",
                "\"é😀\"",
                "\"" + "y".repeat(129) + "\"",
                "\"" + "z".repeat(5_000) + "\"",
                "[]",
                "{}",
                "[256]",
                "[-1]",
                "[" + "7,".repeat(31) + "7]",
                "{\"a\":{\"b\":[{}]}}",
                "[".repeat(600) + "]".repeat(600),
                "nan",
                "'x'",
                "\"http://127.0.0.1:1\"",
                "\"127.0.0.1\"",
                "\"unknown_worker_activation_failure\"");
        Arbitrary<Edit> edits = Combinators.combine(
                        Arbitraries.integers().between(0, 400), Arbitraries.of(Bend.values()), tokens)
                .as(Edit::new);
        return Combinators.combine(
                        Arbitraries.of(FuzzPeer.Kind.values()),
                        edits.list().ofMinSize(0).ofMaxSize(3),
                        Arbitraries.frequencyOf(
                                net.jqwik.api.Tuple.of(9, Arbitraries.just(0)),
                                net.jqwik.api.Tuple.of(1, Arbitraries.integers().between(1, 2_000))),
                        Arbitraries.frequencyOf(
                                net.jqwik.api.Tuple.of(19, Arbitraries.just("")),
                                net.jqwik.api.Tuple.of(1, Arbitraries.of(" ", "{}", "\u0000", "]"))))
                .as(Shape::new);
    }

    @Provide
    Arbitrary<Bytes> bytes() {
        Arbitrary<byte[]> payloads = Arbitraries.oneOf(
                Arbitraries.bytes().array(byte[].class).ofMaxSize(125),
                Arbitraries.of(200, 70_000, 262_144, 262_145, 300_000)
                        .map(size -> "{".repeat(size).getBytes(StandardCharsets.UTF_8)));
        return Combinators.combine(
                        Arbitraries.of(true, false),
                        Arbitraries.integers().between(0, 15),
                        Arbitraries.of(true, false),
                        payloads)
                .as(Bytes::new);
    }

    @AfterTry
    void logIsNotKept() {
        if (daemon.events.size() > 1_000) {
            assertNothingFailed();
        }
    }

    // ---- sending

    private static void send(Shape shape) throws IOException {
        RawControl socket = peer.socket(shape.kind());
        String text = bent(peer.frame(shape.kind()), shape);
        Optional<CommandFrame> understood = decode(text);
        socket.send(text);
        RawControl.Event event = socket.reply(ANSWER_MS);
        String what = shape.kind() + " " + shape.edits() + "\n" + text.substring(0, Math.min(text.length(), 2_000))
                + "\n-> " + event;
        switch (event.kind()) {
            case CLOSED -> assertTrue(understood.isEmpty(), () -> "closed on a frame of the protocol: " + what);
            case TEXT -> {
                assertTrue(understood.isPresent(), () -> "answered a broken frame: " + what);
                JsonObject reply = Json.parseObject(event.text());
                int status = (int) reply.integer("status", 100, 599);
                assertTrue(DOCUMENTED.contains(status), () -> "undocumented status: " + what);
                assertEquals(understood.get().requestId(), reply.string("request_id"), what);
                peer.answered(shape.kind(), understood.get(), reply, status);
            }
            case PONG, NOTHING -> throw new AssertionError("neither answered nor closed: " + what);
        }
        peer.done(shape.kind(), socket);
    }

    private static Optional<CommandFrame> decode(String text) {
        try {
            // As it arrives: what is no character becomes something else on its way.
            return Optional.of(FrameCodec.decodeCommand(
                    new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)));
        } catch (FrameException e) {
            return Optional.empty();
        }
    }

    private static void send(Bytes bytes) throws IOException {
        try (RawControl socket = peer.open(bytes.worker())) {
            socket.send(bytes.opcode(), bytes.fin(), bytes.payload());
            boolean control = bytes.opcode() >= RawControl.CLOSE;
            boolean oversize = control && bytes.payload().length > 125;
            if (bytes.opcode() == RawControl.PING && bytes.fin() && !oversize) {
                assertEquals(RawControl.Event.Kind.PONG, socket.next(ANSWER_MS).kind(), bytes::toString);
            } else if (bytes.opcode() == RawControl.PONG && bytes.fin() && !oversize) {
                // Passed over: the connection serves on.
                socket.send(peer.challenge(bytes.worker()));
                assertEquals(RawControl.Event.Kind.TEXT, socket.reply(ANSWER_MS).kind(), bytes::toString);
            } else {
                if (!bytes.fin() && !control) {
                    socket.send(RawControl.CONTINUATION, true, new byte[0]);
                }
                assertEquals(
                        RawControl.Event.Kind.CLOSED,
                        socket.next(ANSWER_MS).kind(),
                        () -> "opcode " + bytes.opcode() + (bytes.fin() ? " fin" : "") + ", " + bytes.payload().length
                                + " bytes");
            }
        }
    }

    // ---- bending

    /** A token that is written as it stands. */
    private record Raw(String token) {}

    /** An object whose keys may stand twice. */
    private record Fields(List<Map.Entry<String, Object>> entries) {}

    private static String bent(String frame, Shape shape) {
        Object tree = open(Json.parseObject(frame).values());
        for (Edit edit : shape.edits()) {
            int[] left = {edit.node() % count(tree)};
            tree = bend(tree, left, edit);
        }
        StringBuilder text = new StringBuilder();
        write(tree, text);
        int cut = shape.cut() % (text.length() + 1);
        return (cut == 0 ? text : text.substring(0, text.length() - cut)) + shape.tail();
    }

    private static Object open(Object value) {
        if (value instanceof Map<?, ?> map) {
            List<Map.Entry<String, Object>> entries = new ArrayList<>();
            map.forEach((key, item) -> entries.add(entry((String) key, open(item))));
            return new Fields(entries);
        }
        return value instanceof List<?> list
                ? new ArrayList<>(list.stream().map(ControlFuzzTest::open).toList())
                : value == null ? new Raw("null") : value;
    }

    private static Map.Entry<String, Object> entry(String key, Object value) {
        return new java.util.AbstractMap.SimpleEntry<>(key, value);
    }

    private static int count(Object value) {
        return switch (value) {
            case Fields fields ->
                1
                        + fields.entries().stream()
                                .mapToInt(entry -> count(entry.getValue()))
                                .sum();
            case List<?> list ->
                1 + list.stream().mapToInt(ControlFuzzTest::count).sum();
            default -> 1;
        };
    }

    /** The tree with its node number {@code left[0]} changed. */
    private static Object bend(Object value, int[] left, Edit edit) {
        if (left[0]-- == 0) {
            return new Raw(edit.token());
        }
        switch (value) {
            case Fields fields -> {
                for (int i = 0; i < fields.entries().size() && left[0] >= 0; i++) {
                    Map.Entry<String, Object> entry = fields.entries().get(i);
                    boolean here = left[0] == 0;
                    Object changed = bend(entry.getValue(), left, edit);
                    if (!here) {
                        entry.setValue(changed);
                    } else {
                        switch (edit.bend()) {
                            case REMOVE -> fields.entries().remove(i);
                            case REPLACE -> entry.setValue(changed);
                            case REPEAT -> fields.entries().add(entry(entry.getKey(), changed));
                            case RENAME -> fields.entries().set(i, entry(entry.getKey() + "_", entry.getValue()));
                        }
                    }
                }
            }
            case List<?> list -> bendItems(items(list), left, edit);
            default -> {}
        }
        return value;
    }

    @SuppressWarnings("unchecked")
    private static List<Object> items(List<?> list) {
        return (List<Object>) list;
    }

    private static void bendItems(List<Object> list, int[] left, Edit edit) {
        for (int i = 0; i < list.size() && left[0] >= 0; i++) {
            boolean here = left[0] == 0;
            Object changed = bend(list.get(i), left, edit);
            if (!here) {
                list.set(i, changed);
            } else {
                switch (edit.bend()) {
                    case REMOVE -> list.remove(i);
                    case REPLACE, RENAME -> list.set(i, changed);
                    case REPEAT -> list.add(i, changed);
                }
            }
        }
    }

    private static void write(Object value, StringBuilder text) {
        switch (value) {
            case Raw raw -> text.append(raw.token());
            case Fields fields -> {
                text.append('{');
                for (Map.Entry<String, Object> entry : fields.entries()) {
                    text.append(text.charAt(text.length() - 1) == '{' ? "" : ",");
                    text.append(Json.write(entry.getKey())).append(':');
                    write(entry.getValue(), text);
                }
                text.append('}');
            }
            case List<?> list -> {
                text.append('[');
                String comma = "";
                for (Object item : list) {
                    text.append(comma);
                    write(item, text);
                    comma = ",";
                }
                text.append(']');
            }
            default -> text.append(Json.write(value));
        }
    }
}
