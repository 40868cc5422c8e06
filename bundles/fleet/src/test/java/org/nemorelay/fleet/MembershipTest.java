package org.nemorelay.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.fleet.FakeFrontend.Said;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.Recorder;

class MembershipTest {
    private static final String REGISTER = "/api/node/register";
    private static final Said CREATED = new Said(201, "{\"id\":\"n-1\"}");
    private static final Said OK = new Said(200, "{\"status\":\"ok\"}");

    private final Recorder recorder = new Recorder();
    private final List<String> registered = new CopyOnWriteArrayList<>();
    private final List<RelayException> refused = new CopyOnWriteArrayList<>();
    private FakeFrontend frontend;

    @AfterEach
    void stop() {
        frontend.close();
    }

    private Membership member(Function<String, Said> answers) {
        return member(answers, registered::add);
    }

    private Membership member(Function<String, Said> answers, Consumer<String> onRegistered) {
        frontend = new FakeFrontend(answers);
        return new Membership(
                new FrontendClient(frontend.url(), "secret"),
                Json.object("name", "one"),
                Duration.ofMillis(20),
                recorder,
                onRegistered,
                refused::add);
    }

    @Test
    void itRegistersThenBeatsThenTellsThatItLeaves() {
        try (Membership _ = member(path -> path.equals(REGISTER) ? CREATED : OK)) {
            Await.until(
                    "it beats", () -> frontend.asked("/api/node/n-1/heartbeat").size() > 2);
        }
        assertEquals(List.of("n-1"), registered);
        FakeFrontend.Asked request = frontend.asked(REGISTER).getFirst();
        assertEquals("one", request.body().string("name"));
        assertEquals("Bearer secret", request.authorization());
        assertEquals(
                request.body().string("incarnation"),
                frontend.asked("/api/node/n-1/heartbeat").getFirst().body().string("incarnation"));
        assertEquals(1, frontend.asked("/api/node/n-1/deregister").size());
        assertEquals(List.of(), refused);
    }

    @Test
    void aFrontendThatNoLongerKnowsItIsToldAgain() {
        AtomicInteger registrations = new AtomicInteger();
        try (Membership _ = member(path -> {
            if (path.equals(REGISTER)) {
                return new Said(201, "{\"id\":\"n-" + registrations.incrementAndGet() + "\"}");
            }
            return path.contains("n-1") ? new Said(404, "{}") : OK;
        })) {
            Await.until("registered again", () -> registered.equals(List.of("n-1", "n-2")));
        }
        assertEquals(1, frontend.asked("/api/node/n-2/deregister").size(), "it leaves under the id that it has");
        assertEquals(0, frontend.asked("/api/node/n-1/deregister").size());
    }

    @Test
    void anAnswerThatIsNoneIsWaitedOver() {
        List<Said> answers = List.of(
                new Said(503, "out"),
                new Said(201, "[]"),
                new Said(201, "{\"id\":7}"),
                new Said(201, "{\"id\":\"\"}"),
                new Said(201, "{\"id\":\"a/b c\"}"),
                CREATED);
        AtomicInteger next = new AtomicInteger();
        try (Membership _ =
                member(path -> path.equals(REGISTER) ? answers.get(Math.min(next.getAndIncrement(), 5)) : OK)) {
            Await.until("registered", () -> registered.equals(List.of("n-1")));
        }
        assertEquals(List.of(), refused);
        assertEquals(
                1,
                recorder.lines().stream()
                        .filter(line -> line.contains("Not registered yet"))
                        .count(),
                "told once");
    }

    /** Both shapes that a frontend has for errors. */
    @Test
    void aRefusalIsForGoodAndSaysWhy() {
        for (String body : List.of("{\"error\":\"no such token\"}", "{\"error\":{\"message\":\"no such token\"}}")) {
            refused.clear();
            try (Membership _ = member(path -> new Said(401, body))) {
                Await.until("refused", () -> refused.size() == 1);
            }
            assertEquals(FailureKind.CONFIGURATION, refused.getFirst().kind());
            assertTrue(refused.getFirst().getMessage().endsWith("refuses this node: no such token"));
            frontend.close();
        }
        assertEquals(List.of(), registered);
    }

    @Test
    void silenceOfTheFrontendChangesNothing() {
        try (Membership _ = member(path -> path.equals(REGISTER) ? CREATED : new Said(500, ""))) {
            Await.until(
                    "it beats on",
                    () -> frontend.asked("/api/node/n-1/heartbeat").size() > 3);
        }
        assertEquals(1, frontend.asked(REGISTER).size());
    }

    @Test
    void aFaultWhileRegisteringIsTheProcessesEnd() {
        try (Membership _ = member(path -> CREATED, id -> {
            throw new IllegalStateException("a bug");
        })) {
            Await.until("told", () -> refused.size() == 1);
        }
        assertEquals(FailureKind.INTERNAL, refused.getFirst().kind());
        assertNotEquals(-1, refused.getFirst().getMessage().indexOf("a bug"));
    }
}
