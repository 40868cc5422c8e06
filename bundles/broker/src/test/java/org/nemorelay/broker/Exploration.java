package org.nemorelay.broker;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;

/**
 * Every order of events up to a depth, breadth first, so that the first violation is a shortest one. A state is kept as the
 * event that led to it and is made again by repeating its way; symmetric states are visited once.
 */
public final class Exploration implements IntFunction<Map<String, Object>> {
    /** Times short enough that a life fits into few steps; their order is that of the real ones. */
    private static final BrokerSettings SETTINGS =
            new BrokerSettings(false, false, 4, 16, 16, 16, 2_000, 3_000, 20_000, 300_000);

    private int[] parents = new int[1 << 16];
    private short[] events = new short[1 << 16];
    private int states;
    private long transitions;
    private long[] seen = new long[1 << 18];

    /** Called by {@link Mutant} in a loader of its own. */
    public Exploration() {}

    /**
     * Explores to that depth. The result: {@code states}, {@code transitions}, {@code depth}, {@code levels}, and
     * {@code violation} with the way to it where one was found.
     */
    @Override
    public Map<String, Object> apply(int depth) {
        Map<String, Object> result = new TreeMap<>();
        StringBuilder levels = new StringBuilder();
        World start = new World(SETTINGS, 3);
        visit(new Symmetry(start).canonical(), -1, 0);
        int from = 0;
        int level = 0;
        while (level < depth && from < states) {
            int to = states;
            for (int state = from; state < to; state++) {
                String violation = expand(state, level);
                if (!violation.isEmpty()) {
                    result.put("violation", violation);
                    result.put("depth", level + 1);
                    result.put("states", states);
                    return result;
                }
            }
            from = to;
            level++;
            levels.append(level == 1 ? "" : ", ").append(states - to);
        }
        result.put("depth", level);
        result.put("states", states);
        result.put("transitions", transitions);
        result.put("levels", levels.toString());
        return result;
    }

    private String expand(int state, int level) {
        int[] way = new int[level + 1];
        for (int at = state, i = level - 1; i >= 0; i--, at = parents[at]) {
            way[i] = events[at];
        }
        int[] enabled = replay(way, level).enabled();
        for (int event : enabled) {
            transitions++;
            way[level] = event;
            World world = replay(way, level);
            WorldRules rules = new WorldRules(world);
            try {
                world.apply(event);
                rules.check();
                if (visit(new Symmetry(world).canonical(), state, event) && !rules.everyoneIsServed()) {
                    rules.checkProgress();
                }
            } catch (AssertionError e) {
                return e.getMessage() + " after " + describe(way);
            } catch (RuntimeException e) {
                return e + " after " + describe(way);
            }
        }
        return "";
    }

    private static World replay(int[] way, int length) {
        World world = new World(SETTINGS, 3);
        for (int i = 0; i < length; i++) {
            world.apply(way[i]);
        }
        return world;
    }

    private static String describe(int[] way) {
        StringBuilder text = new StringBuilder();
        for (int event : way) {
            text.append(text.isEmpty() ? "" : ", ").append(World.describe(event));
        }
        return text.toString();
    }

    private boolean visit(long canonical, int parent, int event) {
        if (!add(canonical)) {
            return false;
        }
        if (states == parents.length) {
            parents = Arrays.copyOf(parents, states * 2);
            events = Arrays.copyOf(events, states * 2);
        }
        parents[states] = parent;
        events[states] = (short) event;
        states++;
        return true;
    }

    private boolean add(long value) {
        long key = value == 0 ? 1 : value;
        if (states * 2 > seen.length) {
            long[] old = seen;
            seen = new long[old.length * 2];
            for (long each : old) {
                if (each != 0) {
                    seen[slot(each)] = each;
                }
            }
        }
        int slot = slot(key);
        if (seen[slot] == key) {
            return false;
        }
        seen[slot] = key;
        return true;
    }

    private int slot(long key) {
        int slot = (int) key & seen.length - 1;
        while (seen[slot] != 0 && seen[slot] != key) {
            slot = slot + 1 & seen.length - 1;
        }
        return slot;
    }
}
