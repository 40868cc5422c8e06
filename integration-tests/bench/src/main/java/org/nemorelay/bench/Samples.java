package org.nemorelay.bench;

import java.util.Arrays;
import java.util.function.DoubleSupplier;

/** Repeated measurements of one thing. */
record Samples(double[] sorted) {
    /** Takes {@code warmUp} values that do not count, then {@code runs} that do. */
    static Samples take(int warmUp, int runs, DoubleSupplier measurement) {
        for (int i = 0; i < warmUp; i++) {
            measurement.getAsDouble();
        }
        double[] values = new double[runs];
        for (int i = 0; i < runs; i++) {
            values[i] = measurement.getAsDouble();
        }
        Arrays.sort(values);
        return new Samples(values);
    }

    double median() {
        return sorted[sorted.length / 2];
    }

    double min() {
        return sorted[0];
    }

    double max() {
        return sorted[sorted.length - 1];
    }
}
