package org.nemorelay.cli.internal.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URI;
import org.junit.jupiter.api.Test;

/** The demo's two ends fit each other without anything between them. */
class ProviderTest {
    @Test
    void theFirstEventArrivesWhileTheRestIsWithheld() throws Exception {
        try (Provider provider = new Provider()) {
            int port = URI.create(provider.base("mark")).getPort();
            try (StreamedRequest request =
                    new StreamedRequest(port, "POST /mark/v1/messages HTTP/1.1\r\nX-Api-Key: k\r\n", "{}")) {
                assertEquals(200, request.status());
                assertEquals("message_start", request.event().string("type"));
                provider.goOn();
                StringBuilder text = new StringBuilder();
                for (var event = request.event();
                        !event.string("type").equals("message_stop");
                        event = request.event()) {
                    event.optionalObject("delta")
                            .flatMap(delta -> delta.optionalString("text"))
                            .ifPresent(text::append);
                }
                assertEquals("Hello from the other end.", text.toString());
            }
            Provider.Received received = provider.received().getFirst();
            assertEquals("/mark/v1/messages", received.target());
            assertEquals("k", received.headers().get("x-api-key"));
            assertEquals("{}", received.body());
        }
    }
}
