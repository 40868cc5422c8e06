package org.nemorelay.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

class RatioTest {
    private static final double CLOSE = 1e-9;

    private static List<Ratio.Pair> pairs(double... baseAndOther) {
        List<Ratio.Pair> pairs = new ArrayList<>();
        for (int i = 0; i < baseAndOther.length; i += 2) {
            pairs.add(new Ratio.Pair(baseAndOther[i], baseAndOther[i + 1]));
        }
        return pairs;
    }

    /** Groups of pairs whose second is the first changed, on a machine that becomes slower and has bursts of other work. */
    private static List<List<Ratio.Pair>> measured(int groups, Random random, DoubleUnaryOperator change) {
        List<List<Ratio.Pair>> all = new ArrayList<>();
        for (int group = 0; group < groups; group++) {
            List<Ratio.Pair> pairs = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                double machine = 100 + i + 30 * group;
                double other = change.applyAsDouble(machine) * (1 + 0.02 * random.nextGaussian());
                pairs.add(new Ratio.Pair(machine, random.nextInt(8) == 0 ? other * 3 : other));
            }
            all.add(pairs);
        }
        return all;
    }

    @Test
    void aMedianLiesBetweenTheTwoInTheMiddle() {
        assertEquals(2, Ratio.median(9, 1, 2));
        assertEquals(2.5, Ratio.median(3, 9, 1, 2));
    }

    @Test
    void isTheMiddleOfTheGroupsMedianRatiosOfPairs() {
        Ratio ratio = Ratio.of(List.of(pairs(100, 110, 200, 240, 10, 90), pairs(50, 50), pairs(4, 8, 2, 4)));
        assertEquals(1.2, ratio.value(), CLOSE);
        assertEquals(1, ratio.low(), CLOSE);
        assertEquals(2, ratio.high(), CLOSE);
    }

    @Test
    void differencesAreOfThePairsNotOfTheMedians() {
        Ratio difference = Ratio.ofDifferences(List.of(pairs(100, 130, 200, 231, 300, 332)));
        assertEquals(31, difference.value(), CLOSE);
        assertEquals(30, difference.low(), CLOSE);
        assertEquals(32, difference.high(), CLOSE);
    }

    @Test
    void theSamePairsGiveTheSameInterval() {
        List<List<Ratio.Pair>> groups = measured(5, new Random(7), base -> base * 1.1);
        assertEquals(Ratio.of(groups), Ratio.of(groups));
    }

    @Test
    void whatTheMachineDoesMeanwhileDoesNotChangeIt() {
        Ratio ratio = Ratio.of(measured(5, new Random(1), base -> base * 1.05));
        assertEquals(1.05, ratio.value(), 0.01);
        assertTrue(ratio.low() < 1.05 && ratio.high() > 1.05, ratio.toString());
        assertTrue(ratio.high() - ratio.low() < 0.03, ratio.toString());
    }

    @Test
    void nineteenOfTwentyIntervalsHoldWhatIsTrue() {
        int held = 0;
        for (int run = 0; run < 100; run++) {
            Random random = new Random(run);
            List<List<Ratio.Pair>> groups = new ArrayList<>();
            for (int group = 0; group < 5; group++) {
                double ofItsOwn = 1 + 0.03 * random.nextGaussian();
                groups.addAll(measured(1, random, base -> base * 1.05 * ofItsOwn));
            }
            Ratio ratio = Ratio.of(groups);
            held += ratio.low() <= 1.06 && 1.06 <= ratio.high() ? 1 : 0;
        }
        assertTrue(held >= 90, held + " of 100");
    }

    @Test
    void groupsThatDifferWidenTheInterval() {
        List<List<Ratio.Pair>> alike = List.of(pairs(100, 105), pairs(100, 105), pairs(100, 105));
        List<List<Ratio.Pair>> different = List.of(pairs(100, 95), pairs(100, 105), pairs(100, 115));
        assertEquals(new Ratio(1.05, 1.05, 1.05), Ratio.of(alike));
        assertEquals(new Ratio(1.05, 0.95, 1.15), Ratio.of(different));
    }

    @Test
    void needsNoMoreThanOnePair() {
        assertEquals(new Ratio(0.5, 0.5, 0.5), Ratio.of(List.of(pairs(4, 2))));
    }

    @Test
    void isPrintedWithItsInterval() {
        assertEquals("+3.1 % (-0.5 to +12.0 %)", new Ratio(1.031, 0.995, 1.12).percent());
        assertEquals("+44 µs (-1 to +46 µs)", new Ratio(44.4, -1, 46.3).micros());
        assertEquals("0.90 (0.85 to 1.00)", new Ratio(0.9, 0.854, 1).times());
    }
}
