package org.nemorelay.plugin.pricing.internal;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.PluginConfig;

/** The prices of all sources, in their order: the first that names a model is its price (plugins.md 2.6). Immutable. */
record Catalogue(List<Price> prices) {
    static Catalogue of(PluginConfig config) {
        config.only("version", "sources");
        List<PluginConfig> sources = config.tables("sources");
        if (sources.isEmpty()) {
            throw config.failure(
                    "sources", "missing; write [[components.config.sources]] with type = \"file\" and path");
        }
        List<Price> prices = new ArrayList<>();
        for (PluginConfig source : sources) {
            switch (source.string("type")) {
                case "file" -> prices.addAll(file(source.only("type", "path")));
                case "inline" ->
                    prices.addAll(inline(source.only("type", "catalog").table("catalog")));
                case String other ->
                    throw source.failure("type", "\"" + other + "\" is no source, use \"file\" or \"inline\"");
            }
        }
        return new Catalogue(List.copyOf(prices));
    }

    Optional<Price> of(String model) {
        return prices.stream().filter(price -> price.names().contains(model)).findFirst();
    }

    private static List<Price> file(PluginConfig source) {
        Path path = Path.of(source.string("path"));
        try {
            JsonObject catalogue = Json.parseObject(Files.readAllBytes(path));
            catalogue.integer("version", 1, 1);
            List<Price> prices = new ArrayList<>();
            for (JsonObject entry : catalogue.objects("entries")) {
                String model = entry.string("model_id");
                List<String> names = new ArrayList<>(List.of(model));
                names.addAll(entry.has("aliases") ? entry.strings("aliases") : List.of());
                JsonObject rates = entry.object("rates");
                Map<Price.Kind, BigDecimal> perMillion = new EnumMap<>(Price.Kind.class);
                for (Price.Kind kind : Price.Kind.values()) {
                    Object rate = rates.values().get(kind.rateKey());
                    if (rate != null) {
                        perMillion.put(kind, rate(model, kind.rateKey(), rate));
                    }
                }
                prices.add(new Price(
                        names,
                        entry.optionalString("currency").orElse("USD"),
                        entry.optionalString("pricing_as_of").orElse(""),
                        perMillion));
                unit(model, entry.optionalString("unit"));
            }
            return prices;
        } catch (IOException e) {
            throw source.failure(
                    "path", "cannot read the catalogue " + path + ": " + reason(e) + ", name a file that is readable");
        } catch (JsonException e) {
            throw source.failure("path", "the catalogue " + path + ": " + e.getMessage());
        }
    }

    private static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException _ -> "there is no such file";
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException file when file.getReason() != null -> file.getReason();
            default -> e.getMessage() == null ? "it cannot be read" : e.getMessage();
        };
    }

    private static BigDecimal rate(String model, String key, Object value) {
        BigDecimal rate = switch (value) {
            case Long number -> BigDecimal.valueOf(number);
            case BigInteger number -> new BigDecimal(number);
            case BigDecimal number -> number;
            default -> throw new JsonException("the entry of " + model + ": " + key + " must be a number");
        };
        if (!Price.possible(rate)) {
            throw new JsonException("the entry of " + model + ": " + key + " " + Price.POSSIBLE);
        }
        return rate;
    }

    private static void unit(String model, Optional<String> unit) {
        if (unit.filter(word -> !word.equals("per_token")).isPresent()) {
            throw new JsonException("the entry of " + model + ": the unit " + unit.get() + " is not per_token");
        }
    }

    private static List<Price> inline(PluginConfig catalogue) {
        catalogue.only("version", "entries").integer("version", 1, 1, 1);
        List<Price> prices = new ArrayList<>();
        for (PluginConfig entry : catalogue.tables("entries")) {
            entry.only(
                    "provider",
                    "model_id",
                    "aliases",
                    "currency",
                    "unit",
                    "pricing_as_of",
                    "pricing_source",
                    "rates",
                    "prompt_cache");
            if (!entry.string("unit", "per_token").equals("per_token")) {
                throw entry.failure("unit", "must be per_token");
            }
            List<String> names = new ArrayList<>(List.of(entry.string("model_id")));
            names.addAll(entry.strings("aliases"));
            PluginConfig rates = entry.table("rates");
            Map<Price.Kind, BigDecimal> perMillion = new EnumMap<>(Price.Kind.class);
            for (Price.Kind kind : Price.Kind.values()) {
                Optional<BigDecimal> rate = rates.optionalNumber(kind.rateKey());
                if (rate.filter(number -> !Price.possible(number)).isPresent()) {
                    throw rates.failure(kind.rateKey(), Price.POSSIBLE);
                }
                rate.ifPresent(number -> perMillion.put(kind, number));
            }
            prices.add(
                    new Price(names, entry.string("currency", "USD"), entry.string("pricing_as_of", ""), perMillion));
        }
        return prices;
    }
}
