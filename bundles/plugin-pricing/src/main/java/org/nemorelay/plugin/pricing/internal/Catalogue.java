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
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.PluginConfig;

/** The prices of all sources, in their order: the first that names a model is its price (plugins.md 2.6). Immutable. */
record Catalogue(List<Price> prices) {
    private static final String[] ENTRY = {
        "provider",
        "model_id",
        "aliases",
        "currency",
        "unit",
        "pricing_as_of",
        "pricing_source",
        "rates",
        "prompt_cache"
    };
    private static final String[] RATES =
            Arrays.stream(Price.Kind.values()).map(Price.Kind::rateKey).toArray(String[]::new);
    private static final String READ_ACCOUNTING = "read_accounting";
    private static final List<String> ACCOUNTING = List.of("included_in_prompt_tokens", "separate");

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
        if (!path.isAbsolute()) {
            throw source.failure(
                    "path", "must be an absolute path, not " + path + ": workers run in their users' folders");
        }
        try {
            JsonObject catalogue = Json.parseObject(Files.readAllBytes(path)).only("version", "entries");
            catalogue.integer("version", 1, 1);
            List<Price> prices = new ArrayList<>();
            Set<String> known = new HashSet<>();
            for (JsonObject entry : catalogue.objects("entries")) {
                prices.add(price(entry.only(ENTRY), known));
            }
            return prices;
        } catch (IOException e) {
            throw source.failure(
                    "path", "cannot read the catalogue " + path + ": " + reason(e) + ", name a file that is readable");
        } catch (JsonException e) {
            throw source.failure("path", "the catalogue " + path + ": " + e.getMessage());
        }
    }

    private static Price price(JsonObject entry, Set<String> known) {
        String model = entry.string("model_id");
        Map<Price.Kind, BigDecimal> perMillion = new EnumMap<>(Price.Kind.class);
        Map<String, Object> rates = entry.object("rates").only(RATES).values();
        for (Price.Kind kind : Price.Kind.values()) {
            if (rates.containsKey(kind.rateKey())) {
                perMillion.put(kind, rate(model, kind.rateKey(), rates.get(kind.rateKey())));
            }
        }
        if (entry.optionalString("unit")
                .filter(unit -> !unit.equals("per_token"))
                .isPresent()) {
            throw new JsonException(
                    "the entry of " + model + ": the unit " + entry.string("unit") + " is not per_token");
        }
        if (entry.has("prompt_cache")) {
            String read = entry.object("prompt_cache").only(READ_ACCOUNTING).string(READ_ACCOUNTING);
            if (!ACCOUNTING.contains(read)) {
                throw new JsonException("the entry of " + model + ": " + READ_ACCOUNTING + " must be "
                        + String.join(" or ", ACCOUNTING) + ", not " + read);
            }
        }
        Price price = new Price(
                names(model, entry.has("aliases") ? entry.strings("aliases") : List.of()),
                entry.optionalString("currency").orElse("USD"),
                entry.optionalString("pricing_as_of").orElse(""),
                perMillion);
        wrong(price, entry.optionalString("provider").orElse(""), known).ifPresent(what -> {
            throw new JsonException(
                    "the entry of " + (model.isBlank() ? "a model without a name" : model) + ": " + what);
        });
        return price;
    }

    private static List<String> names(String model, List<String> aliases) {
        List<String> names = new ArrayList<>(List.of(model));
        names.addAll(aliases);
        return names;
    }

    /**
     * What nobody can mean by an entry.
     *
     * @param known what the entries before it name, by provider; its own names are added
     */
    private static Optional<String> wrong(Price price, String provider, Set<String> known) {
        if (price.perMillion().isEmpty()) {
            return Optional.of("it has no rate, write one of " + String.join(", ", RATES));
        }
        if (price.currency().isBlank()) {
            return Optional.of("its currency is blank, leave it out for USD");
        }
        for (String name : price.names()) {
            if (name.isBlank()) {
                return Optional.of("a name of the model is blank");
            }
            if (!known.add(provider + "/" + name)) {
                return Optional.of("\"" + name + "\" is named twice"
                        + (provider.isEmpty() ? "" : " for the provider " + provider) + ", remove one");
            }
        }
        return Optional.empty();
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
            case null, default -> throw new JsonException("the entry of " + model + ": " + key + " must be a number");
        };
        if (!Price.possible(rate)) {
            throw new JsonException("the entry of " + model + ": " + key + " " + Price.POSSIBLE);
        }
        return rate;
    }

    private static List<Price> inline(PluginConfig catalogue) {
        catalogue.only("version", "entries").integer("version", 1, 1, 1);
        List<Price> prices = new ArrayList<>();
        Set<String> known = new HashSet<>();
        for (PluginConfig entry : catalogue.tables("entries")) {
            entry.only(ENTRY);
            if (!entry.string("unit", "per_token").equals("per_token")) {
                throw entry.failure("unit", "must be per_token");
            }
            PluginConfig rates = entry.table("rates").only(RATES);
            Map<Price.Kind, BigDecimal> perMillion = new EnumMap<>(Price.Kind.class);
            for (Price.Kind kind : Price.Kind.values()) {
                Optional<BigDecimal> rate = rates.optionalNumber(kind.rateKey());
                if (rate.filter(number -> !Price.possible(number)).isPresent()) {
                    throw rates.failure(kind.rateKey(), Price.POSSIBLE);
                }
                rate.ifPresent(number -> perMillion.put(kind, number));
            }
            Price price = new Price(
                    names(entry.string("model_id"), entry.strings("aliases")),
                    entry.string("currency", "USD"),
                    entry.string("pricing_as_of", ""),
                    perMillion);
            wrong(price, entry.string("provider", ""), known).ifPresent(what -> {
                throw entry.failure("model_id", what);
            });
            prices.add(price);
        }
        return prices;
    }
}
