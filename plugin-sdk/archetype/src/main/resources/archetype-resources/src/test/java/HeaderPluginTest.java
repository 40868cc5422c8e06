package ${package};

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.testkit.Exchange;
import org.nemorelay.plugin.testkit.FakeProvider;
import org.nemorelay.plugin.testkit.PluginRig;
import org.nemorelay.plugin.testkit.Recording;
import org.nemorelay.plugin.testkit.Requests;

class HeaderPluginTest {
    @Test
    void everyRequestHasTheHeader() {
        try (PluginRig rig = PluginRig.of(new HeaderPlugin(Map.of("value", "blue")))) {
            for (ModelApi api : ModelApi.values()) {
                Exchange exchange =
                        rig.send(Requests.streamed(api, "hello"), FakeProvider.streams(Recording.text(api)));
                assertEquals(
                        Optional.of("blue"), exchange.sent().getFirst().headers().first("x-team"));
                assertEquals(Recording.text(api).text(), exchange.body());
            }
        }
    }

    @Test
    void aMissingValueIsNamed() {
        var failure = assertThrows(PluginConfigException.class, () -> new HeaderPlugin(Map.of()));
        assertEquals("value", failure.key());
    }

    @Test
    void whatIsNoHeaderIsRefusedAtTheStart() {
        for (String value : new String[] {"", "two\nlines", "\u20ac"}) {
            var failure = assertThrows(
                    PluginConfigException.class, () -> new HeaderPlugin(Map.of("header", "x-team", "value", value)));
            assertEquals("value", failure.key());
        }
    }
}
