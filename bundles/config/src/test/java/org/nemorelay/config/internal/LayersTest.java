package org.nemorelay.config.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.config.internal.Schema.Setting;

/** Later layers win, and a provider never receives another one's credential. */
class LayersTest {
    private static final String URL = "upstream.openai_base_url";
    private static final String HEADER = "upstream.openai_auth_header";

    private static Setting setting(String value) {
        return new Setting(value, "test");
    }

    @Test
    void laterLayersWin() {
        Layers layers =
                new Layers().over(Map.of("a", setting("1"), "b", setting("1"))).over(Map.of("b", setting("2")));
        assertEquals(Optional.of("1"), layers.value("a"));
        assertEquals(Optional.of("2"), layers.value("b"));
    }

    @Test
    void changedUrlClearsTheHeaderBelow() {
        Layers layers = new Layers()
                .over(Map.of(URL, setting("https://a"), HEADER, setting("k")))
                .over(Map.of(URL, setting("https://b")));
        assertEquals(Optional.empty(), layers.value(HEADER));
    }

    @Test
    void headerGivenBesideTheNewUrlStays() {
        Layers layers = new Layers()
                .over(Map.of(URL, setting("https://a"), HEADER, setting("k")))
                .over(Map.of(URL, setting("https://b"), HEADER, setting("l")));
        assertEquals(Optional.of("l"), layers.value(HEADER));
    }

    @Test
    void sameUrlKeepsTheHeader() {
        Layers layers = new Layers()
                .over(Map.of(URL, setting("https://a/v1"), HEADER, setting("k")))
                .over(Map.of(URL, setting("https://a/v1/")));
        assertEquals(Optional.of("k"), layers.value(HEADER));
    }

    @Test
    void headerAboveTheUrlStays() {
        Layers layers = new Layers().over(Map.of(URL, setting("https://a"))).over(Map.of(HEADER, setting("k")));
        assertEquals(Optional.of("k"), layers.value(HEADER));
    }

    @Test
    void otherProvidersHeaderStays() {
        Layers layers = new Layers()
                .over(Map.of("upstream.anthropic_auth_header", setting("k")))
                .over(Map.of(URL, setting("https://b")));
        assertEquals(Optional.of("k"), layers.value("upstream.anthropic_auth_header"));
    }
}
