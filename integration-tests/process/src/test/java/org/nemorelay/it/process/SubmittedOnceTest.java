package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.MockProvider;

/** No request reaches the provider twice, whatever becomes of its connection; counted there by request id. */
@ExtendWith(Line.OfOneClass.class)
@Timeout(60)
class SubmittedOnceTest {
    private static final String ID = "x-request-id";

    private final Map<String, Integer> submitted = new ConcurrentHashMap<>();

    private void count(MockProvider.Received head) {
        submitted.merge(head.header(ID).getFirst(), 1, Integer::sum);
    }

    private static int status(Line line, Version version, Route route, String id) throws Exception {
        try (Call call = line.send(version, route, "/v1/responses", new byte[] {'{', '}'}, ID + ": " + id)) {
            int status = call.head().status();
            call.rest();
            return status;
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void notOverAPooledConnectionThatIsClosedOnTheNextRequest(Version version, Route route, Line line)
            throws Exception {
        line.provider().script(route.at("/v1/responses"), (head, connection) -> {
            count(head);
            connection.body(head, new ArrayList<>());
            connection.keepAliveReply().sized(200, "application/json", "{}");
            // Alive in words; what comes next is read and left unanswered.
            Optional<MockProvider.Received> next = connection.nextHead();
            if (next.isPresent()) {
                count(next.get());
            }
        });
        int met = 0;
        for (int i = 0; i < 20; i++) {
            String id = UUID.randomUUID().toString();
            // Every other one meets the connection of the one before, which a client that is fast may find not yet
            // pooled.
            int status = status(line, version, route, id);
            assertTrue(status == 200 || status == 502, "request " + i + ": " + status);
            assertEquals(1, submitted.get(id), "request " + i);
            met += status == 502 ? 1 : 0;
        }
        assertTrue(met > 0, "no request met a pooled connection");
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void notWhenTheProviderDiesOverIt(Version version, Route route, Line line) throws Exception {
        line.provider().script(route.at("/v1/responses"), (head, connection) -> {
            count(head);
            connection.body(head, new ArrayList<>());
            connection.reset();
        });
        for (int i = 0; i < 5; i++) {
            String id = UUID.randomUUID().toString();
            assertEquals(502, status(line, version, route, id));
            assertEquals(1, submitted.get(id));
        }
    }
}
