package org.nemorelay.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PublicRoutesTest {
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
