package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.nemorelay.it.Await;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.User;

/** The requests of one user to one daemon, what came of each, and what the provider has noted of them. */
final class Traffic {
    private final User user;
    private final int port;
    private final Path notes;
    private final Supplier<String> context;
    private final Set<String> asked = ConcurrentHashMap.newKeySet();
    private final Map<String, Integer> answered = new ConcurrentHashMap<>();
    private final List<Thread> callers = new CopyOnWriteArrayList<>();

    /** @param context the processes' output, for the text of failures */
    Traffic(User user, int port, Path notes, Supplier<String> context) {
        this.user = user;
        this.port = port;
        this.notes = notes;
        this.context = context;
    }

    /** Where the provider writes a line for each request. */
    Path notesFile() {
        return notes;
    }

    /** How many have called. */
    int callers() {
        return callers.size();
    }

    /** By id, what {@link #awaitEnd} returns. */
    Map<String, Integer> answered() {
        return answered;
    }

    /** Sends a request that the provider answers with this many events, 100 ms apart, and keeps what came of it. */
    void stream(String id, int events) {
        stream(id, events, Duration.ofSeconds(120));
    }

    /** The same with more header lines, and with this long for each event. */
    void stream(String id, int events, Duration patience, String... more) {
        asked.add(id);
        callers.add(Thread.ofPlatform().daemon().name("caller " + id).start(() -> {
            int status = 0;
            try (RawHttp http = new RawHttp(port, patience)) {
                String[] headers = Stream.concat(
                                Stream.of(
                                        user.header(),
                                        "x-request-id: " + id,
                                        "x-events: " + events,
                                        "content-type: application/json"),
                                Stream.of(more))
                        .toArray(String[]::new);
                RawHttp.Answer answer =
                        http.send("POST", "/v1/messages", "{}", headers).answer();
                status = answer.text().contains("data: " + (events - 1)) ? answer.status() : -answer.status();
            } catch (RuntimeException e) {
                // Broken off: what counts is how often the provider saw it.
            }
            answered.put(id, status);
        }));
    }

    /** The provider's notes: a line for each request, its id and its target. */
    String notes() {
        try {
            return Files.exists(notes) ? Files.readString(notes) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void awaitSubmitted(String id) {
        Await.until(context, Scene.LIMIT, () -> submissions(id) > 0);
    }

    private long submissions(String id) {
        return notes().lines().filter(line -> line.startsWith(id + " ")).count();
    }

    /** Whether a request was answered to its end. */
    void assertAnswered(String id, boolean whole) {
        assertAnswered(id, whole, Scene.LIMIT);
    }

    /** Its status; negative where the answer broke off, 0 where there was none. */
    int awaitEnd(String id, Duration limit) {
        Await.until("an end of " + id, limit, () -> answered.containsKey(id));
        return answered.get(id);
    }

    void assertAnswered(String id, boolean whole, Duration limit) {
        assertEquals(whole, awaitEnd(id, limit) == 200, () -> id + " was answered to its end\n" + context.get());
    }

    void awaitCallers() {
        for (Thread caller : callers) {
            try {
                assertTrue(caller.join(Duration.ofSeconds(130)), () -> caller.getName() + " was let hang");
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Each request has come to an end, and one that has begun to be answered was submitted. */
    void assertSubmittedOnce() {
        List<String> ids = notes().lines()
                .map(line -> line.substring(0, line.indexOf(' ')))
                .toList();
        assertEquals(ids.stream().distinct().toList(), ids, "no request was submitted twice");
        assertEquals(asked, answered.keySet(), "each request has an end");
        answered.forEach((id, status) -> {
            if (Math.abs(status) == 200) {
                assertTrue(ids.contains(id), () -> id + " was answered by somebody else");
            }
        });
    }
}
