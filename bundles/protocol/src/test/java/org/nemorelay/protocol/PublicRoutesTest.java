package org.nemorelay.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.protocol.PublicRoute.Family;

class PublicRoutesTest {
    @ParameterizedTest
    @CsvSource({
        "https://api.openai.com/v1, /v1/responses, https://api.openai.com/v1/responses",
        "https://api.openai.com/v1/, /responses?a=b, https://api.openai.com/v1/responses?a=b",
        "https://api.openai.com/v1, /backend-api/codex/responses?a=b, https://api.openai.com/v1/responses?a=b",
        "http://127.0.0.1:1, /backend-api/codex/responses, http://127.0.0.1:1/v1/responses",
        "http://127.0.0.1:1, /chat/completions, http://127.0.0.1:1/v1/chat/completions",
        "https://api.anthropic.com, /v1/messages?beta=true, https://api.anthropic.com/v1/messages?beta=true",
        "http://h/pfx/v1/, /v1/messages, http://h/pfx/v1/v1/messages",
        "https://host/prefix/v1//, /v1/models, https://host/prefix/v1/models",
    })
    void upstreamUrls(String base, String target, String expected) {
        Family family = target.startsWith("/v1/messages") ? Family.ANTHROPIC : Family.OPENAI;
        assertEquals(expected, PublicRoutes.upstreamUrl(base, target, family));
    }

    @Test
    void routesAreFoundByTheirExactPath() {
        for (PublicRoute route : PublicRoutes.all()) {
            assertEquals(Optional.of(route), PublicRoutes.find(route.path()));
        }
        for (String unknown : List.of("/", "/hooks/claude", "/v1/messages/", "/V1/messages", "/healthz")) {
            assertTrue(PublicRoutes.find(unknown).isEmpty(), unknown);
        }
        assertEquals(
                List.of("/responses", "/v1/responses", "/backend-api/codex/responses"),
                PublicRoutes.all().stream()
                        .filter(route -> route instanceof PublicRoute.Provider provider && provider.webSocketProbe())
                        .map(PublicRoute::path)
                        .toList());
    }
}
