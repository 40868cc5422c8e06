package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.nemorelay.it.Reply;

/** A model that thinks for longer than any idle timeout is waited for, before its head and within its stream (B15). */
@Tag("long")
@ExtendWith(Line.Shared.class)
@Timeout(900)
class SilenceTest {
    /** More than the 300 s after which an unused connection of the listener ends, and the 120 s of the pools. */
    private static final int SILENCE_SECONDS = 310;

    @Test
    void case108IsWaitedForOnEveryWay(Line line) throws Exception {
        AtomicInteger submitted = new AtomicInteger();
        CountDownLatch silence = new CountDownLatch(1);
        for (Route route : Route.values()) {
            line.provider().script(route.at("/v1/messages"), (head, connection) -> {
                submitted.incrementAndGet();
                connection.body(head, new ArrayList<>());
                boolean early = !head.header("x-early").isEmpty();
                Reply reply = connection.reply();
                if (early) {
                    reply.head(200, "transfer-encoding: chunked").chunk("one");
                }
                silence.await();
                if (!early) {
                    reply.head(200, "transfer-encoding: chunked").chunk("one");
                }
                reply.chunk("two").end();
            });
        }
        Map<String, Future<String>> answers = new LinkedHashMap<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Route route : Route.values()) {
                for (Version version : Version.values()) {
                    for (String[] headers : List.of(new String[0], new String[] {"x-early: 1"})) {
                        answers.put(
                                route + " " + version + " " + String.join(" ", headers),
                                threads.submit(() -> answer(line, version, route, headers)));
                    }
                }
            }
            TimeUnit.SECONDS.sleep(SILENCE_SECONDS);
            silence.countDown();
            List<String> wrong = new ArrayList<>();
            for (Map.Entry<String, Future<String>> answer : answers.entrySet()) {
                if (!answer.getValue().get().equals("200 onetwo")) {
                    wrong.add(answer.getKey() + ": " + answer.getValue().get());
                }
            }
            assertEquals(List.of(), wrong);
        }
        assertEquals(answers.size(), submitted.get());
    }

    private static String answer(Line line, Version version, Route route, String... headers) {
        long start = System.nanoTime();
        String seen = "";
        try (Call call = line.send(version, route, "/v1/messages", new byte[0], headers)) {
            seen = call.head().status() + " ";
            for (byte[] more = call.read(); more.length > 0; more = call.read()) {
                seen += new String(more, StandardCharsets.UTF_8);
            }
            return seen;
        } catch (IOException e) {
            long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
            return seen + "and after " + seconds + " s " + e.getMessage();
        }
    }
}
