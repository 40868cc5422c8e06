package org.nemorelay.example.headers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.testkit.FakeProvider;
import org.nemorelay.plugin.testkit.PluginRig;
import org.nemorelay.plugin.testkit.Requests;

class HeaderInjectionTest {
    @Test
    void theProviderGetsTheHeadersAndTheSameBody() {
        var plugin = new HeaderInjection(Map.of(
                "headers.0.name", "x-team", "headers.0.value", "blue",
                "headers.1.name", "x-site", "headers.1.value", "north"));
        try (PluginRig rig = PluginRig.of(plugin)) {
            var request = Requests.whole(ModelApi.OPENAI_RESPONSES, "hello");
            var sent = rig.send(request, FakeProvider.answers(200, "{}")).sent().getFirst();
            HeaderMap headers = sent.headers();
            assertEquals(Optional.of("blue"), headers.first("x-team"));
            assertEquals(Optional.of("north"), headers.first("x-site"));
            assertEquals(request.body(), sent.body());
        }
    }

    @Test
    void aHeaderWithoutValueIsNamed() {
        var failure = assertThrows(
                PluginConfigException.class, () -> new HeaderInjection(Map.of("headers.0.name", "x-team")));
        assertEquals("headers.0.value", failure.key());
    }

    @Test
    void whatIsNoHeaderIsRefusedAtTheStart() {
        var failure = assertThrows(
                PluginConfigException.class,
                () -> new HeaderInjection(Map.of("headers.0.name", "x-team", "headers.0.value", "\u20ac")));
        assertEquals("headers.0.value", failure.key());
    }
}
