package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.TimeScale;

/** A worker that hangs keeps nothing open past its drain deadline: the daemon, which holds both ends, cuts it. */
class DrainDeadlineTest {
    private static final String CALL = "/v1/chat/completions";

    private TestDaemon daemon;
    private FakeServer data;
    private TestDaemon.User ann;
    private TestDaemon.Mcp mcp;

    @BeforeEach
    void aReadyWorker() throws Exception {
        daemon = new TestDaemon();
        daemon.environment.put(TimeScale.VARIABLE, "60");
        daemon.start();
        data = new FakeServer("worker");
        ann = daemon.user("ann");
        mcp = ann.mcp();
        daemon.new Worker(ann, data)
                .register(mcp.await(Directive.LaunchWorker.class).grant())
                .ready();
    }

    @AfterEach
    void close() throws IOException {
        daemon.close();
        data.close();
    }

    @Test
    void aStreamBreaksOffAndARequestWithoutAnAnswerFails() throws Exception {
        data.answer = exchange -> {
            if (data.seen.size() % 2 == 0) {
                return; // silent, as it stands still
            }
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("begun".getBytes(StandardCharsets.US_ASCII));
            exchange.getResponseBody().flush();
        };
        data.seen.clear();
        try (RawHttp stream = new RawHttp(daemon.port());
                RawHttp silent = new RawHttp(daemon.port())) {
            stream.send(RawHttp.post(CALL, "{}", ann.header()));
            assertEquals(200, stream.head().status());
            assertEquals("begun", stream.chunk());
            silent.send(RawHttp.post(CALL, "{}", ann.header()));
            TestDaemon.await("the worker has both", () -> data.seen.size() == 2);
            mcp.release();
            RawHttp.Answer cut = silent.exchange("");
            assertEquals(502, cut.status());
            assertEquals(
                    "{\"error\":{\"message\":\"the worker was to end and had not answered when its time was over\"}}",
                    cut.body());
            IOException end = assertThrows(IOException.class, stream::chunk);
            assertFalse(end instanceof SocketTimeoutException, end::toString);
            assertEquals(2, data.seen.size(), data.seen::toString);
            TestDaemon.await(
                    () -> daemon.events.toString(),
                    () -> daemon.events.stream()
                                    .filter(line ->
                                            line.contains("request_failed") && line.contains("drain_deadline_reached"))
                                    .count()
                            == 2);
        }
    }

    private static int status(RawHttp http) throws IOException {
        return http.head().status();
    }
}
