package org.nemorelay.plugin.pricing.internal;

import java.math.BigDecimal;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventMetadataInjector;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginKind;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/**
 * The {@code pricing} component of plugins.toml (plugins.md 2.6): puts what a model request cost into the metadata of its
 * end. Immutable.
 */
@PluginKind(
        value = Pricing.KIND,
        observer = true,
        config = {
            "version any",
            "sources[].type! =file|inline",
            "{sources[]} 1..",
            "sources[].{path} 1.. if sources[].type=file",
            "sources[].{catalog} 0..0 if sources[].type=file",
            "sources[].{catalog} 1.. if sources[].type=inline",
            "sources[].{path} 0..0 if sources[].type=inline",
            "sources[].path string+",
            "sources[].catalog.version 1..1",
            "sources[].catalog.entries[].provider any",
            "sources[].catalog.entries[].model_id! string",
            "sources[].catalog.entries[].aliases [string]",
            "sources[].catalog.entries[].currency string",
            "sources[].catalog.entries[].unit =per_token",
            "sources[].catalog.entries[].pricing_as_of string",
            "sources[].catalog.entries[].pricing_source any",
            "sources[].catalog.entries[].rates.input_per_million number",
            "sources[].catalog.entries[].rates.output_per_million number",
            "sources[].catalog.entries[].rates.cache_read_per_million number",
            "sources[].catalog.entries[].rates.cache_write_per_million number",
            "sources[].catalog.entries[].prompt_cache.read_accounting =included_in_prompt_tokens|separate"
        })
@Component(
        service = EventMetadataInjector.class,
        configurationPid = Pricing.KIND,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class Pricing implements EventMetadataInjector {
    static final String KIND = "pricing";
    private static final String PREFIX = "nemo_relay.cost.";

    private final Catalogue catalogue;

    @Activate
    public Pricing(Map<String, ?> properties) {
        catalogue = Catalogue.of(PluginConfig.of(properties));
    }

    @Override
    public CompletionStage<Map<String, Object>> inject(Event event) {
        return CompletableFuture.completedStage(cost(event));
    }

    private Map<String, Object> cost(Event event) {
        if (event.kind() != Event.Kind.SCOPE_END
                || event.category().filter("llm"::equals).isEmpty()) {
            return Map.of();
        }
        Optional<JsonObject> answer = event.categoryProfile().optionalObject("annotated_response");
        Optional<JsonObject> usage = answer.flatMap(response -> response.optionalObject("usage"));
        Optional<Price> price = answer.flatMap(response -> response.optionalString("model"))
                .or(() -> event.categoryProfile().optionalString("model_name"))
                .flatMap(catalogue::of);
        if (usage.isEmpty() || price.isEmpty()) {
            return Map.of();
        }
        Map<Price.Kind, Long> tokens = tokens(usage.get());
        Map<Price.Kind, BigDecimal> costs = price.get().costs(tokens);
        if (costs.isEmpty()) {
            return Map.of();
        }
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put(PREFIX + "currency", price.get().currency());
        costs.forEach((kind, cost) -> metadata.put(PREFIX + kind.word(), cost));
        price.get().total(tokens).ifPresent(total -> metadata.put(PREFIX + "total", total));
        if (!price.get().asOf().isEmpty()) {
            metadata.put(PREFIX + "pricing_as_of", price.get().asOf());
        }
        return metadata;
    }

    /** Those read from a cache are not charged as input a second time. */
    private static Map<Price.Kind, Long> tokens(JsonObject usage) {
        Map<Price.Kind, Long> tokens = new EnumMap<>(Price.Kind.class);
        put(
                tokens,
                Price.Kind.INPUT,
                usage,
                usage.has("uncached_input_tokens") ? "uncached_input_tokens" : "prompt_tokens");
        put(tokens, Price.Kind.OUTPUT, usage, "completion_tokens");
        put(tokens, Price.Kind.CACHE_READ, usage, "cache_read_tokens");
        put(tokens, Price.Kind.CACHE_WRITE, usage, "cache_write_tokens");
        return tokens;
    }

    private static void put(Map<Price.Kind, Long> tokens, Price.Kind kind, JsonObject usage, String key) {
        if (usage.values().get(key) instanceof Long count && count >= 0) {
            tokens.put(kind, count);
        }
    }
}
