package org.nemorelay.plugin.pricing.internal;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a model costs.
 *
 * @param names the model's id and its aliases
 * @param asOf when the price was read off; empty where the catalogue does not say
 * @param perMillion of each kind of token that has a rate
 */
record Price(List<String> names, String currency, String asOf, Map<Kind, BigDecimal> perMillion) {
    static final String POSSIBLE = "must be a price from 0 to 1000000000 with at most 12 decimals";

    private static final BigDecimal MAX = new BigDecimal("1000000000");
    private static final int MAX_DECIMALS = 12;
    private static final int MILLION_DIGITS = 6;

    /** Kinds of tokens that are charged apart. */
    enum Kind {
        INPUT("input"),
        OUTPUT("output"),
        CACHE_READ("cache_read"),
        CACHE_WRITE("cache_write");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        String word() {
            return word;
        }

        String rateKey() {
            return word + "_per_million";
        }
    }

    /** Whether this can be a rate; one of a billion digits would take all memory to write down. */
    static boolean possible(BigDecimal rate) {
        return rate.signum() >= 0
                && rate.compareTo(MAX) <= 0
                && (rate.signum() == 0 || rate.stripTrailingZeros().scale() <= MAX_DECIMALS);
    }

    /** The cost of each kind that was used and has a rate. */
    Map<Kind, BigDecimal> costs(Map<Kind, Long> tokens) {
        Map<Kind, BigDecimal> costs = new TreeMap<>();
        tokens.forEach((kind, count) -> {
            BigDecimal rate = perMillion.get(kind);
            if (rate != null) {
                costs.put(kind, tidy(rate.multiply(BigDecimal.valueOf(count)).movePointLeft(MILLION_DIGITS)));
            }
        });
        return costs;
    }

    /** The sum; empty when something that was used has no rate. */
    Optional<BigDecimal> total(Map<Kind, Long> tokens) {
        BigDecimal sum = BigDecimal.ZERO;
        for (Map.Entry<Kind, Long> used : tokens.entrySet()) {
            if (used.getValue() > 0 && !perMillion.containsKey(used.getKey())) {
                return Optional.empty();
            }
        }
        for (BigDecimal cost : costs(tokens).values()) {
            sum = sum.add(cost);
        }
        return Optional.of(tidy(sum));
    }

    /** Without zeros at its end, and without an exponent. */
    private static BigDecimal tidy(BigDecimal number) {
        BigDecimal stripped = number.stripTrailingZeros();
        return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
    }
}
