package org.nemorelay.agents.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.fleet.FrontendClient;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.UnreachableException;

/** Whatever a frontend answers is an answer or a typed failure: a fault here would end the worker's process. */
class FrontendChatTest {
    private HttpServer server;
    private volatile int status = 200;
    private volatile String body = "";

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/chat/completions", exchange -> {
            exchange.getRequestBody().readAllBytes();
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private String ask() {
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        return new FrontendChat(new FrontendClient(url, ""), Duration.ofSeconds(20))
                .ask(Context.background(), "m", "p");
    }

    @Test
    void theFirstChoiceIsTheAnswer() {
        body = "{\"choices\":[{\"message\":{\"content\":\"yes\"}},{}]}";
        assertEquals("yes", ask());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "[]",
                "no JSON",
                "{}",
                "{\"choices\":[]}",
                "{\"choices\":null}",
                "{\"choices\":{}}",
                "{\"choices\":[null]}",
                "{\"choices\":[[]]}",
                "{\"choices\":[{}]}",
                "{\"choices\":[{\"message\":null}]}",
                "{\"choices\":[{\"message\":\"x\"}]}",
                "{\"choices\":[{\"message\":{}}]}",
                "{\"choices\":[{\"message\":{\"content\":1}}]}"
            })
    void whatIsNoAnswerIsRefused(String said) {
        body = said;
        RefusedException refused = assertThrows(RefusedException.class, this::ask);
        assertTrue(refused.getMessage().contains("status 200 and something else"), refused.getMessage());
    }

    @Test
    void anErrorIsToldInTheFrontendsWords() {
        status = 503;
        body = "{\"error\":{\"message\":\"no node can serve\"}}";
        assertEquals(
                "no node can serve",
                assertThrows(RefusedException.class, this::ask).getMessage());
        body = "{\"error\":\"out\"}";
        assertEquals("out", assertThrows(RefusedException.class, this::ask).getMessage());
        for (String other : new String[] {"", "<html>", "{\"error\":[]}", "{\"error\":{\"message\":{}}}"}) {
            body = other;
            assertEquals(
                    "status 503",
                    assertThrows(RefusedException.class, this::ask).getMessage());
        }
    }

    @Test
    void nobodyThereIsUnreachable() {
        server.stop(0);
        assertThrows(UnreachableException.class, this::ask);
    }
}
