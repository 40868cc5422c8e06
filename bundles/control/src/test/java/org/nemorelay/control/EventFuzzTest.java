package org.nemorelay.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.control.CancelOutcome;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.FrameException;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.ServerEvent;

/** What a daemon says, bent in every way: it is understood, or it ends the connection; nothing else happens to a client. */
@Timeout(300)
class EventFuzzTest {
    private static final String[] TOKENS = {
        "null",
        "true",
        "-1",
        "0",
        "1",
        "65536",
        "18446744073709551615",
        "18446744073709551616",
        "1e400",
        "1e46744073709551615",
        "0.5",
        "\"\"",
        "\"x\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "[]",
        "{}",
        "[256]",
        "nan",
        "\"" + "z".repeat(5_000) + "\"",
        "[".repeat(600) + "]".repeat(600)
    };

    @TempDir
    Path temp;

    private final Random random = new Random(5);

    private List<String> events() {
        Ids ids = new Ids();
        List<String> texts = new ArrayList<>();
        for (ServerEvent event : List.of(
                new ServerEvent.Reply(ids.uuid7(), 204, new ReplyBody.Empty()),
                new ServerEvent.Reply(ids.uuid7(), 401, new ReplyBody.Failure("no", Optional.of("code"))),
                new ServerEvent.Reply(ids.uuid7(), 200, new ReplyBody.ActivationCancelled(CancelOutcome.PUBLISHED)),
                new ServerEvent.DirectiveIssued(ids.uuid7(), new Directive.UsePassThrough()),
                new ServerEvent.DirectiveIssued(ids.uuid7(), new Directive.WaitForWorker(100)),
                new ServerEvent.DirectiveIssued(ids.uuid7(), new Directive.ReuseWorker("http://127.0.0.1:1")),
                new ServerEvent.DirectiveIssued(
                        ids.uuid7(),
                        new Directive.LaunchWorker(new LaunchGrant(
                                "a", "t", LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.of("host")))),
                new ServerEvent.WorkerUnreachable(ids.uuid7(), "https://w:1", "no"),
                new ServerEvent.Drain(ids.uuid7(), "w", -1, 119_998))) {
            texts.add(FrameCodec.encode(event));
        }
        return texts;
    }

    /** One to three changes: a value replaced, a part cut out, a character changed. */
    private String bent(String text) {
        StringBuilder bent = new StringBuilder(text);
        for (int edits = 1 + random.nextInt(3); edits > 0 && bent.length() > 1; edits--) {
            int at = random.nextInt(bent.length());
            switch (random.nextInt(4)) {
                case 0 -> {
                    int colon = bent.indexOf(":", at);
                    int end = colon < 0 ? -1 : endOfValue(bent, colon + 1);
                    if (end > 0) {
                        bent.replace(colon + 1, end, TOKENS[random.nextInt(TOKENS.length)]);
                    }
                }
                case 1 -> bent.delete(at, Math.min(bent.length(), at + 1 + random.nextInt(20)));
                case 2 -> bent.setCharAt(at, (char) random.nextInt(256));
                default -> bent.setLength(Math.max(1, at));
            }
        }
        return bent.toString();
    }

    private static int endOfValue(StringBuilder text, int start) {
        for (int i = start; i < text.length(); i++) {
            if (text.charAt(i) == ',' || text.charAt(i) == '}') {
                return i;
            }
        }
        return -1;
    }

    @Test
    void fiveThousandAreUnderstoodOrRefused() {
        decode(5_000);
    }

    @Test
    @Tag("long")
    void aHundredThousandAreUnderstoodOrRefused() {
        decode(100_000);
    }

    private void decode(int count) {
        List<String> events = events();
        int understood = 0;
        for (int i = 0; i < count; i++) {
            String text = bent(events.get(i % events.size()));
            try {
                FrameCodec.decodeEvent(text);
                understood++;
            } catch (FrameException e) {
                // as it should be
            } catch (RuntimeException e) {
                throw new AssertionError(text, e);
            }
        }
        int all = understood;
        assertTrue(all > count / 100 && all < count, () -> "understood " + all);
    }

    /** Over real connections: each frame leaves the session standing, or ends it once; no thread dies of one. */
    @Test
    void aSessionGoesOnOrEndsOnce() throws IOException {
        List<Throwable> defects = new CopyOnWriteArrayList<>();
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, defect) -> defects.add(defect));
        try (FakeDaemon daemon = new FakeDaemon(temp.resolve("daemon"))) {
            List<String> events = events();
            for (int i = 0; i < 100; i++) {
                AtomicInteger ends = new AtomicInteger();
                ControlSession session = register(daemon, ends);
                for (int k = 0; k < 5; k++) {
                    daemon.pushRaw(bent(events.get(random.nextInt(events.size()))));
                }
                daemon.drop();
                FakeDaemon.await("the end", () -> ends.get() == 1 && !session.connected());
                FakeDaemon.await("no connection", () -> daemon.liveConnections() == 0);
                assertEquals(1, ends.get());
            }
            assertEquals(List.of(), defects);
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    private ControlSession register(FakeDaemon daemon, AtomicInteger ends) {
        return daemon.registered(temp.resolve("user"), 20, new ControlListener() {
            @Override
            public void disconnected() {
                ends.incrementAndGet();
            }
        });
    }
}
