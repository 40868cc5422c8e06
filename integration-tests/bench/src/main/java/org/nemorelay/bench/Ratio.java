package org.nemorelay.bench;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * How two things compare that were measured in turns, in pairs of neighbours.
 *
 * @param value the second over the first: the middle of the groups' median ratios of pairs
 * @param low with {@code high} the interval that holds 95 % of what comes of as many groups, and pairs of each, drawn anew
 */
record Ratio(double value, double low, double high) {
    private static final int DRAWS = 4_000;
    private static final double TAIL = 0.025;

    /**
     * A pair.
     *
     * @param base above 0
     */
    record Pair(double base, double other) {
        double ratio() {
            return other / base;
        }

        double difference() {
            return other - base;
        }
    }

    /**
     * The same input gives the same result. A group is what processes of their own have measured: how the compiler happened
     * to translate them makes all pairs of a group differ alike, so groups are drawn, and then pairs of each.
     *
     * @param groups at least one, none of them empty
     */
    static Ratio of(List<List<Pair>> groups) {
        return of(groups.stream()
                .map(group -> group.stream().mapToDouble(Pair::ratio).toArray())
                .toArray(double[][]::new));
    }

    /** The same of differences. */
    static Ratio ofDifferences(List<List<Pair>> groups) {
        return of(groups.stream()
                .map(group -> group.stream().mapToDouble(Pair::difference).toArray())
                .toArray(double[][]::new));
    }

    private static Ratio of(double[][] groups) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(1);
        double[] drawn = new double[DRAWS];
        for (int i = 0; i < DRAWS; i++) {
            double[] medians = new double[groups.length];
            for (int group = 0; group < groups.length; group++) {
                double[] from = groups[random.nextInt(groups.length)];
                double[] pairs = new double[from.length];
                Arrays.setAll(pairs, pair -> from[random.nextInt(from.length)]);
                medians[group] = median(pairs);
            }
            drawn[i] = median(medians);
        }
        Arrays.sort(drawn);
        return new Ratio(
                median(Arrays.stream(groups).mapToDouble(Ratio::median).toArray()),
                drawn[(int) (DRAWS * TAIL)],
                drawn[(int) (DRAWS * (1 - TAIL)) - 1]);
    }

    /** As what the second is more than the first: {@code +3.1 % (+2.0 to +4.3 %)}. */
    String percent() {
        return String.format(
                Locale.ROOT, "%+.1f %% (%+.1f to %+.1f %%)", 100 * (value - 1), 100 * (low - 1), 100 * (high - 1));
    }

    /** Of differences in microseconds: {@code +44 µs (+41 to +46 µs)}. */
    String micros() {
        return String.format(Locale.ROOT, "%+.0f µs (%+.0f to %+.0f µs)", value, low, high);
    }

    /** {@code 1.10 (1.04 to 1.17)}. */
    String times() {
        return String.format(Locale.ROOT, "%.2f (%.2f to %.2f)", value, low, high);
    }

    /** The middle one; between the two middle ones of an even number. */
    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
