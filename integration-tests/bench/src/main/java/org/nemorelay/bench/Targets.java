package org.nemorelay.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What figures have to reach: each is told as {@code met} or {@code MISSED}, and a run that misses one ends with status 1. */
public final class Targets {
    private final List<String> missed = new ArrayList<>();
    private int checked;

    /** What a report says of a figure that may be this at most. */
    public String atMost(String figure, double value, double limit) {
        return verdict(figure, value, value <= limit, "≤ " + number(limit));
    }

    /** What a report says of a figure that must be this at least. */
    public String atLeast(String figure, double value, double limit) {
        return verdict(figure, value, value >= limit, "≥ " + number(limit));
    }

    /** A value that is no number meets nothing. */
    private String verdict(String figure, double value, boolean met, String target) {
        checked++;
        if (!met) {
            missed.add(figure + ": " + number(value) + ", target " + target);
        }
        return target + (met ? " met" : " **MISSED**");
    }

    /** A whole number as it is, others with two digits. */
    private static String number(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%,.0f", value)
                : String.format(Locale.ROOT, "%.2f", value);
    }

    /** Tells on standard error what was missed; 0 where nothing was. */
    public int exitStatus() {
        missed.forEach(figure -> System.err.println("MISSED " + figure));
        System.err.println(checked - missed.size() + " of " + checked + " targets met");
        return missed.isEmpty() ? 0 : 1;
    }
}
