package org.nemorelay.example.rewriting;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.testkit.Exchange;
import org.nemorelay.plugin.testkit.FakeProvider;
import org.nemorelay.plugin.testkit.PluginRig;
import org.nemorelay.plugin.testkit.Recording;
import org.nemorelay.plugin.testkit.Requests;

class WordReplacementTest {
    @ParameterizedTest
    @EnumSource
    void theWordIsReplacedHoweverItIsCut(ModelApi api) {
        // The recorded text is "Hello there", in several pieces.
        for (String word : new String[] {"Hello", "o t", "there", "Hello there"}) {
            try (PluginRig rig = PluginRig.of(new WordReplacement(Map.of("word", word, "replacement", "-")))) {
                Exchange exchange = rig.send(Requests.streamed(api, "hi"), FakeProvider.streams(Recording.text(api)));
                assertEquals("Hello there".replace(word, "-"), exchange.streamedText());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStreamWithoutTheWordLosesNothing(ModelApi api) {
        try (PluginRig rig = PluginRig.of(new WordReplacement(Map.of("word", "xyz", "replacement", "-")))) {
            Exchange exchange = rig.send(Requests.streamed(api, "hi"), FakeProvider.streams(Recording.toolCall(api)));
            assertEquals(200, exchange.status());
            assertEquals(Recording.toolCall(api).text(), exchange.body());
        }
    }
}
