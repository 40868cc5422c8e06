package org.nemorelay.plugin.pricing.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.testkit.PluginRig;

class PricingTest {
    private static final String CATALOGUE = """
            {"version":1,"entries":[
             {"provider":"anthropic","model_id":"claude-x","aliases":["claude-latest"],"currency":"EUR","unit":"per_token",
              "pricing_as_of":"2026-11-01","pricing_source":"list",
              "rates":{"input_per_million":3,"output_per_million":15.5,"cache_read_per_million":0.30}},
             {"provider":"other","model_id":"claude-x","rates":{"input_per_million":9}}]}""";

    @TempDir
    Path folder;

    private Map<String, Object> config() throws Exception {
        Path file = Files.writeString(folder.resolve("prices.json"), CATALOGUE);
        return Map.of("sources.0.type", "file", "sources.0.path", file.toString());
    }

    private static Map<String, Object> recorded(Map<String, Object> config, String model, Map<String, Object> usage) {
        Map<String, Object> envelope = new HashMap<>();
        envelope.put("kind", "scope");
        envelope.put("scope_category", "end");
        envelope.put("category", "llm");
        envelope.put("attributes", List.of());
        envelope.put("atof_version", "0.1");
        envelope.put("uuid", "u");
        envelope.put("timestamp", "2026-11-30T00:00:00+00:00");
        envelope.put("name", "anthropic.messages");
        envelope.put("category_profile", Map.of("annotated_response", Map.of("model", model, "usage", usage)));
        try (PluginRig rig = PluginRig.of(new Pricing(config))) {
            return rig.record(Event.of(envelope)).metadata().values();
        }
    }

    @Test
    void theEndOfARequestSaysWhatItCost() throws Exception {
        Map<String, Object> usage = Map.of(
                "prompt_tokens", 1_500_000L,
                "uncached_input_tokens", 1_000_000L,
                "cache_read_tokens", 500_000L,
                "completion_tokens", 200L);
        assertEquals(
                "{nemo_relay.cost.cache_read=0.15, nemo_relay.cost.currency=EUR, nemo_relay.cost.input=3,"
                        + " nemo_relay.cost.output=0.0031, nemo_relay.cost.pricing_as_of=2026-11-01,"
                        + " nemo_relay.cost.total=3.1531}",
                recorded(config(), "claude-latest", usage).toString());
    }

    @Test
    void withoutARateForAllThatWasUsedThereIsNoTotal() throws Exception {
        Map<String, Object> metadata = recorded(
                config(), "claude-x", Map.of("prompt_tokens", 10L, "completion_tokens", 1L, "cache_write_tokens", 5L));
        assertTrue(metadata.containsKey("nemo_relay.cost.input"), metadata.toString());
        assertTrue(!metadata.containsKey("nemo_relay.cost.total"), metadata.toString());
        assertTrue(recorded(config(), "claude-x", Map.of("prompt_tokens", 10L, "cache_write_tokens", 0L))
                .containsKey("nemo_relay.cost.total"));
    }

    @Test
    void anUnknownModelCostsNothingThatWeKnow() throws Exception {
        assertEquals(Map.of(), recorded(config(), "claude-y", Map.of("prompt_tokens", 10L)));
    }

    @Test
    void aCatalogueMayStandInTheConfiguration() {
        Map<String, Object> config = Map.of(
                "sources.0.type",
                "inline",
                "sources.0.catalog.version",
                1L,
                "sources.0.catalog.entries.0.model_id",
                "m",
                "sources.0.catalog.entries.0.rates.input_per_million",
                2.5,
                "sources.0.catalog.entries.0.rates.output_per_million",
                10L);
        assertEquals(
                "{nemo_relay.cost.currency=USD, nemo_relay.cost.input=0.0025, nemo_relay.cost.output=0.01,"
                        + " nemo_relay.cost.total=0.0125}",
                recorded(config, "m", Map.of("prompt_tokens", 1000L, "completion_tokens", 1000L))
                        .toString());
    }

    @Test
    void whatItCannotUseIsRefusedByName() throws Exception {
        assertTrue(refusal(Map.of()).startsWith("sources: missing"));
        assertTrue(refusal(Map.of("sources.0.type", "web")).startsWith("sources.0.type: \"web\" is no source"));
        assertEquals(
                "sources.0.path: cannot read the catalogue /nope/x.json: there is no such file, name a file that is"
                        + " readable",
                refusal(Map.of("sources.0.type", "file", "sources.0.path", "/nope/x.json")));
        Path bad = Files.writeString(folder.resolve("bad.json"), "{\"version\":2}");
        assertTrue(refusal(Map.of("sources.0.type", "file", "sources.0.path", bad.toString()))
                .contains("version must be an integer from 1 to 1"));
    }

    @Test
    void aPriceThatNobodyAsksIsRefusedWithItsModel() throws Exception {
        for (String rate : List.of("-1", "-0.5", "1e999999999", "1000000001", "1e-999999999", "99999999999999999999")) {
            Path bad = Files.writeString(
                    folder.resolve("bad.json"),
                    "{\"version\":1,\"entries\":[{\"model_id\":\"ok\",\"rates\":{\"input_per_million\":1}},{\"model_id\":\"m-2\",\"rates\":"
                            + "{\"output_per_million\":" + rate + "}}]}");
            assertEquals(
                    "sources.0.path: the catalogue " + bad + ": the entry of m-2: output_per_million must be a price"
                            + " from 0 to 1000000000 with at most 12 decimals",
                    refusal(Map.of("sources.0.type", "file", "sources.0.path", bad.toString())),
                    rate);
        }
        assertEquals(
                "sources.0.catalog.entries.0.rates.input_per_million: must be a price from 0 to 1000000000 with at most"
                        + " 12 decimals",
                refusal(Map.of(
                        "sources.0.type",
                        "inline",
                        "sources.0.catalog.entries.0.model_id",
                        "m",
                        "sources.0.catalog.entries.0.rates.input_per_million",
                        -1L)));
    }

    @Test
    void aCatalogueThatCannotBeMeantIsRefused() throws Exception {
        String entry = "{\"provider\":\"p\",\"model_id\":\"m\",\"rates\":{\"input_per_million\":1}}";
        Map<String, String> wrong = new LinkedHashMap<>();
        wrong.put(entry.replace("input_per", "inpt_per"), "entries[0].rates.inpt_per_million is not a known key");
        wrong.put(
                entry.replace("\"model_id\"", "\"modelid\":\"m\",\"model_id\""),
                "entries[0].modelid is not a known key");
        wrong.put(entry.replace(":1}", ":null}"), "the entry of m: input_per_million must be a number");
        wrong.put(
                entry.replace("\"input_per_million\":1", ""),
                "the entry of m: it has no rate, write one of"
                        + " input_per_million, output_per_million, cache_read_per_million, cache_write_per_million");
        wrong.put(
                entry.replace(":\"m\"", ":\" \""), "the entry of a model without a name: a name of the model is blank");
        wrong.put(
                entry.replace("\"rates\"", "\"aliases\":[\"\"],\"rates\""),
                "the entry of m: a name of the model is blank");
        wrong.put(
                entry.replace("\"rates\"", "\"aliases\":[\"m\"],\"rates\""),
                "the entry of m: \"m\" is named twice for the provider p, remove one");
        wrong.put(entry + "," + entry, "the entry of m: \"m\" is named twice for the provider p, remove one");
        wrong.put(
                entry.replace("\"rates\"", "\"currency\":\"\",\"rates\""),
                "the entry of m: its currency is blank, leave it out for USD");
        wrong.put(
                entry.replace("\"rates\"", "\"prompt_cache\":{\"read_accounting\":\"x\"},\"rates\""),
                "the entry of m: read_accounting must be included_in_prompt_tokens or separate, not x");
        wrong.put(
                entry.replace("\"rates\"", "\"unit\":\"per_image\",\"rates\""),
                "the entry of m: the unit per_image is not per_token");
        for (Map.Entry<String, String> one : wrong.entrySet()) {
            Path bad =
                    Files.writeString(folder.resolve("bad.json"), "{\"version\":1,\"entries\":[" + one.getKey() + "]}");
            assertEquals(
                    "sources.0.path: the catalogue " + bad + ": " + one.getValue(),
                    refusal(Map.of("sources.0.type", "file", "sources.0.path", bad.toString())));
        }
        Path bad = Files.writeString(folder.resolve("bad.json"), "{\"version\":1,\"entries\":[],\"entrys\":[]}");
        assertEquals(
                "sources.0.path: the catalogue " + bad + ": entrys is not a known key",
                refusal(Map.of("sources.0.type", "file", "sources.0.path", bad.toString())));
    }

    @Test
    void aCatalogueInTheConfigurationIsReadAsStrictly() {
        Map<String, Object> entry = Map.of(
                "sources.0.type", "inline",
                "sources.0.catalog.entries.0.model_id", "m",
                "sources.0.catalog.entries.0.rates.input_per_million", 1L);
        Map<String, Object> twice = new HashMap<>(entry);
        twice.put("sources.0.catalog.entries.1.model_id", "m");
        twice.put("sources.0.catalog.entries.1.rates.input_per_million", 1L);
        assertEquals("sources.0.catalog.entries.1.model_id: \"m\" is named twice, remove one", refusal(twice));
        Map<String, Object> typo = new HashMap<>(entry);
        typo.put("sources.0.catalog.entries.0.rates.inpt_per_million", 1L);
        assertTrue(refusal(typo).startsWith("sources.0.catalog.entries.0.rates.inpt_per_million: unknown key"));
    }

    @Test
    void aCatalogueIsNotLookedForInTheUsersFolder() {
        assertEquals(
                "sources.0.path: must be an absolute path, not prices.json: workers run in their users' folders",
                refusal(Map.of("sources.0.type", "file", "sources.0.path", "prices.json")));
    }

    @Test
    void ofSeveralEntriesForAModelTheFirstCounts() throws Exception {
        Map<String, Object> recorded = recorded(config(), "claude-x", Map.of("prompt_tokens", 1_000_000L));
        assertEquals("3", recorded.get("nemo_relay.cost.input").toString());
        assertEquals("EUR", recorded.get("nemo_relay.cost.currency"));
    }

    private static String refusal(Map<String, Object> config) {
        return assertThrows(PluginConfigException.class, () -> new Pricing(config))
                .getMessage();
    }
}
