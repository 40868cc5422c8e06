package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.it.Answers;
import org.nemorelay.it.Events;
import org.nemorelay.it.Reply;

/** A plugin that wants the whole answer gets it from a copy: each event reaches the client before the next is made (B2). */
@ExtendWith(Line.Shared.class)
@Timeout(60)
class ObserversDelayNothingTest {
    @ParameterizedTest
    @EnumSource
    void eachEventIsReadBeforeTheNextIsSentAndTheRecordHoldsThemAll(Version version, Line line) throws Exception {
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            words.add(version + "-" + i);
        }
        List<String> events = new ArrayList<>();
        for (String event : Answers.anthropicText("PIECE")) {
            if (event.contains("PIECE")) {
                words.forEach(word -> events.add(event.replace("PIECE", word)));
            } else {
                events.add(event);
            }
        }
        Semaphore seen = new Semaphore(0);
        line.provider().script(Route.WORKER.at("/v1/messages"), (head, connection) -> {
            connection.body(head, new ArrayList<>());
            Reply reply = connection.reply().head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
            for (String event : events) {
                reply.chunk(event);
                if (!seen.tryAcquire(10, TimeUnit.SECONDS)) {
                    return; // The client was not given it: the stream breaks off.
                }
            }
            reply.end();
        });
        try (Call call = line.send(
                version, Route.WORKER, "/v1/messages", "{\"stream\":true}".getBytes(StandardCharsets.UTF_8))) {
            for (String event : events) {
                assertEquals(event, call.read(event.length()));
                seen.release();
            }
            assertEquals(0, call.read().length);
        }
        String whole = String.join("", words);
        Events.await(
                line.bench.events,
                "with the whole answer",
                event -> Events.scope("anthropic.messages", "end").test(event)
                        && event.values().toString().contains(whole));
    }
}
