package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the daemon answers itself is the same over HTTP/1.1 and cleartext HTTP/2: status, headers, body. */
@ExtendWith(Line.Shared.class)
@Timeout(60)
class BothVersionsTest {
    private static final String TOKEN = "x-nemo-relay-client-token: ";

    @ParameterizedTest
    @CsvSource({
        "404, /nope, ''",
        "404, /healthz/, ''",
        "405, /healthz, ''",
        "405, /v1/models, ''",
        "405, /_nemo-relay/control/v1/mcp, ''",
        "401, /v1/messages, x-nemo-relay-client-token: short",
        "401, /v1/models, x-nemo-relay-client-token: short",
        "401, /hooks/pi, x-nemo-relay-client-token: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB",
        "503, /v1/messages, x-nemo-relay-upstream-base-url: http://127.0.0.1:1",
        "200, /hooks/codex, ''",
        "200, /hooks/claude-code, ''"
    })
    void ownAnswers(int status, String target, String header, Line line) throws Exception {
        String[] headers = header.isEmpty() ? new String[0] : new String[] {header};
        String first = answer(line, Version.HTTP_1_1, target, headers);
        assertEquals(Integer.toString(status), first.substring(0, 3));
        assertEquals(first, answer(line, Version.H2C, target, headers));
    }

    @ParameterizedTest
    @CsvSource({"/v1/messages", "/hooks/codex"})
    void aRepeatedCredential(String target, Line line) throws Exception {
        String[] twice = {TOKEN + "A".repeat(43), TOKEN + "A".repeat(43)};
        String first = answer(line, Version.HTTP_1_1, target, twice);
        assertEquals("401", first.substring(0, 3));
        assertEquals(first, answer(line, Version.H2C, target, twice));
    }

    private static String answer(Line line, Version version, String target, String... headers) throws IOException {
        // Without a body: who is refused before one was read may find the connection closed while it writes.
        List<String> all = new ArrayList<>(List.of(headers));
        all.add("content-length: 0");
        try (Call call = line.clients
                .post(version, line.relay.port(), target, all.toArray(String[]::new))
                .end()) {
            Call.Head head = call.head();
            List<String> names = head.headers().stream()
                    .map(field -> field.getKey().toLowerCase(Locale.ROOT))
                    .map(name -> name.equals("date") ? name : name + ": " + String.join(",", head.header(name)))
                    .filter(field -> !field.startsWith("connection:"))
                    .sorted()
                    .toList();
            return head.status() + " " + names + " " + new String(call.rest(), StandardCharsets.UTF_8);
        }
    }
}
