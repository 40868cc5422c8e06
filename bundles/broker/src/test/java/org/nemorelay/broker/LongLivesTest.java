package org.nemorelay.broker;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;

/** Long random lives around the broker, with its real times: what the {@link Exploration} checks, beyond its depth. */
class LongLivesTest {
    @Property(tries = 1_500)
    void invariantsHoldAndNothingIsLeft(@ForAll("lives") List<Integer> choices) {
        live(choices);
    }

    @Property(tries = 40_000)
    @Tag("long")
    void invariantsHoldInVeryManyLives(@ForAll("lives") List<Integer> choices) {
        live(choices);
    }

    /** Each number picks one of the events that can happen then. */
    @Provide
    Arbitrary<List<Integer>> lives() {
        return Arbitraries.integers().between(0, 1 << 16).list().ofMinSize(20).ofMaxSize(300);
    }

    private static void live(List<Integer> choices) {
        World world = new World(BrokerSettings.of(false, false, 4), 6);
        WorldRules rules = new WorldRules(world);
        for (int choice : choices) {
            int[] enabled = world.enabled();
            int event = enabled[choice % enabled.length];
            try {
                world.apply(event);
                rules.check();
            } catch (AssertionError e) {
                throw new AssertionError(e.getMessage() + " after " + World.describe(event), e);
            }
        }
        rules.checkEnd();
    }
}
